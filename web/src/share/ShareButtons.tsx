import { useEffect, useState } from "preact/hooks";
import type { Options, Project } from "../engine/api";
import { isAlone } from "../engine/parts";
import type { Handed, Kind } from "../engine/project";
import { useTexts } from "../texts";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { command } from "./command";
import { MOST_CHARACTERS, pack } from "./fragment";
import { oneFile } from "./onefile";
import "./share.css";

export interface Shared {
  project: Project;
  options?: Options;
  /** Of the first run, where it has been run. */
  digest?: string | undefined;
  /** Default `scenario`. A configuration has no command of its own. */
  kind?: Kind;
  /** Of a configuration. */
  platform?: string;
  /** Where a link leads: `watch?beside=RED`. Default the page of its kind. */
  place?: string;
}

/** Buttons that pass on what a page shows: a link, one file, the command. */
export function ShareButtons(props: Shared) {
  const t = useTexts().share;
  const [open, setOpen] = useState<"link" | "command" | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const handed = handedOf(props);
  const save = async () => {
    setOpen(null);
    setFailure(null);
    try {
      offer(`${stem(props.project.path)}-lab.html`, "text/html", await oneFile(handed));
    } catch (error) {
      setFailure(t.failed(error instanceof Error ? error.message : String(error)));
    }
  };
  const close = () => setOpen(null);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
    <div class="share" role="group" aria-label={t.group}>
      <Button onClick={() => setOpen("link")}>{t.link}</Button>
      <Button title={t.fileNote} onClick={save}>
        {t.file}
      </Button>
      {handed.kind === "scenario" && (
        <Button onClick={() => setOpen("command")}>{t.command}</Button>
      )}
      {failure && <p role="alert">{failure}</p>}
      {open === "link" && (
        <LinkDialog handed={handed} place={props.place} close={close} save={save} />
      )}
      {open === "command" && <CommandDialog handed={handed} digest={props.digest} close={close} />}
    </div>
  );
}

function handedOf(props: Shared): Handed {
  const { project, options = {}, kind = "scenario", platform = "ios" } = props;
  return { project, options, kind, platform };
}

const PAGES: Record<Kind, string> = { scenario: "scenario", config: "router", show: "router" };

function LinkDialog(props: {
  handed: Handed;
  place: string | undefined;
  close: () => void;
  save: () => void;
}) {
  const t = useTexts().share;
  const [packed, setPacked] = useState<string | null | undefined>(undefined);
  const { handed } = props;
  useEffect(() => {
    let there = true;
    pack(handed).then((text) => there && setPacked(text));
    return () => {
      there = false;
    };
    // The dialog is about what there was when it was opened.
  }, []);
  const [here] = location.href.split("#");
  const place = props.place ?? PAGES[handed.kind];
  const link = `${here}#/${place}${place.includes("?") ? "&" : "?"}s=${packed}`;
  return (
    <Dialog title={t.linkTitle} open onClose={props.close}>
      {packed === null && (
        <>
          <p>{t.tooLong(MOST_CHARACTERS)}</p>
          <p>
            <Button onClick={props.save}>{t.file}</Button>
          </p>
        </>
      )}
      {packed && (
        <>
          <Copied label={t.linkTitle} text={link} />
          <p class="share-note">{t.linkNote}</p>
          <p class="share-note">{t.linkPlace(isAlone() ? (here ?? "") : location.host)}</p>
        </>
      )}
    </Dialog>
  );
}

function CommandDialog(props: { handed: Handed; digest: string | undefined; close: () => void }) {
  const t = useTexts().share;
  const { project, options } = props.handed;
  return (
    <Dialog title={t.commandTitle} open onClose={props.close}>
      <p>{t.commandNote}</p>
      <Copied label={t.command} text={command(project, options)} />
      {props.digest && (
        <p>
          {t.digest} <code>{props.digest}</code>
          <span class="share-note"> {t.digestNote}</span>
        </p>
      )}
      <h3>{t.files}</h3>
      <ul class="share-files">
        {Object.entries(project.files).map(([name, content]) => (
          <li key={name}>
            <Button onClick={() => offer(name, "application/octet-stream", content)}>
              {t.save(name)}
            </Button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** Text to take along: selected when it is clicked, copied by a button where the browser lets. */
function Copied(props: { label: string; text: string }) {
  const t = useTexts().share;
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setSaid(t.copied);
    } catch {
      setSaid(t.notCopied);
    }
  };
  return (
    <div class="copied">
      <textarea
        readOnly
        rows={3}
        aria-label={props.label}
        value={props.text}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Button onClick={copy}>{t.copy}</Button>
      <span role="status">{said}</span>
    </div>
  );
}

function stem(path: string): string {
  const name = path.split("/").at(-1) ?? "";
  return name.replace(/\.[^.]*$/, "") || "spillgate";
}

/** Lets the browser save a file. */
function offer(name: string, type: string, content: string | Uint8Array) {
  const url = URL.createObjectURL(new Blob([content as BlobPart], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.split("/").at(-1) ?? name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

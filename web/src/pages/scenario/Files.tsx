import { useMemo } from "preact/hooks";
import type { JsonSchema, Project } from "../../engine/api";
import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { Editor, type EditorHandle, languageFor } from "../../ui/Editor";
import { value } from "../../ui/format";
import type { Problem } from "../../ui/Problems";
import { Tabs } from "../../ui/Tabs";
import { fileOf } from "./Bench";
import { withoutFile, withText } from "./draft";

interface Props {
  project: Project;
  file: string;
  onFile: (file: string) => void;
  onProject: (project: Project) => void;
  schema: JsonSchema | undefined;
  problems: readonly Problem[];
  handle: { current: EditorHandle | null };
}

/** The files of a project, one at a time. */
export function Files(props: Props) {
  const { project, file, onFile, onProject, schema, problems, handle } = props;
  const t = useTexts().scenario;
  // The scenario first, the others as they came.
  const others = Object.keys(project.files).filter((name) => name !== project.path);
  const content = project.files[file] ?? "";
  const mine = useMemo(
    () => problems.filter((p) => p.line !== undefined && fileOf(project, p) === file),
    [problems, project, file],
  );
  const wrong = (name: string) =>
    problems.some((p) => p.severity === "error" && fileOf(project, p) === name);
  return (
    <Tabs
      class="files"
      label={t.files}
      active={file}
      onSelect={onFile}
      tabs={[project.path, ...others].map((name) => ({
        id: name,
        title: name,
        label: wrong(name) ? `${name} ✗` : name,
      }))}
    >
      {typeof content === "string" ? (
        <Editor
          key={file}
          class="files-editor"
          label={file}
          text={content}
          onChange={(text) => onProject(withText(project, file, text))}
          language={languageFor(file)}
          schema={file === project.path ? schema : undefined}
          problems={mine}
          handle={handle}
        />
      ) : (
        <p class="files-bytes">{t.bytes(value(content.length, "B"))}</p>
      )}
      {file !== project.path && (
        <Button
          kind="quiet"
          class="files-remove"
          onClick={() => {
            onFile(project.path);
            onProject(withoutFile(project, file));
          }}
        >
          {t.remove(file)}
        </Button>
      )}
    </Tabs>
  );
}

import { isAlone } from "../engine/parts";
import { type Handed, write } from "../engine/project";

/** The page as one file that opens with a project. */

const SLOT = '<script type="application/json" id="spillgate-project">';

/** The text of that file. The served form fetches the other form from its own server. */
export async function oneFile(handed: Handed): Promise<string> {
  const [before, after] = split(isAlone() ? own() : await theOther());
  return `${before}${SLOT}${write(handed)}${after}`;
}

function split(page: string): [string, string] {
  const at = page.indexOf(SLOT);
  if (at < 0) throw new Error("the page has no place for a project");
  return [page.slice(0, at), page.slice(page.indexOf("</script>", at))];
}

async function theOther(): Promise<string> {
  const answer = await fetch("spillgate-lab.html");
  if (!answer.ok) throw new Error(`spillgate-lab.html: ${answer.status} ${answer.statusText}`);
  return answer.text();
}

/** This page as it was before its script ran: without what it drew, and what others added. */
function own(): string {
  const root = document.documentElement.cloneNode(true) as HTMLElement;
  for (const { name } of [...root.attributes]) if (name !== "lang") root.removeAttribute(name);
  const body = root.querySelector("body");
  for (const child of [...(body?.children ?? [])]) {
    if (child.id === "app") child.replaceChildren();
    else if (!(child.matches("noscript, script") && OURS.test(child.outerHTML))) child.remove();
  }
  // Of style elements the first is ours; editors and extensions add theirs.
  const [, ...others] = root.querySelectorAll("head style, head script");
  for (const other of others) other.remove();
  return `<!doctype html>\n${root.outerHTML}\n`;
}

const OURS = /^<(noscript|script( type="[a-z/]+" id="spillgate-[a-z]+")?)>/;

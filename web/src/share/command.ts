import type { Options, Project } from "../engine/api";

/** The command that gives the same digests: files of the project in the folder where it is run. */
export function command(project: Project, options: Options): string {
  // What begins with a dash would be taken for an option.
  const path = project.path.startsWith("-") ? `./${project.path}` : project.path;
  const words = ["spillgate", "run", path];
  for (const each of options.set ?? []) words.push("--set", each);
  if (options.seed !== undefined) words.push("--seed", String(options.seed));
  if (options.runs !== undefined) words.push("--runs", String(options.runs));
  return words.map(quoted).join(" ");
}

/** A word as POSIX shells take it, whatever is in it. */
function quoted(word: string): string {
  if (/^[\w./:=@%+-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}

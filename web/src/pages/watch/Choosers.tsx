import { useMemo } from "preact/hooks";
import type { Project } from "../../engine/api";
import { useTexts } from "../../texts";
import { type Choice, Select } from "../../ui/Field";
import type { Key } from "./curves";
import type { Grouping } from "./lanes";
import {
  type Alternative,
  mechanismNames,
  policiesOf,
  readAlternative,
  writtenAlternative,
} from "./mechanisms";
import type { Made } from "./useRecordings";

interface Props {
  project: Project;
  made: Made | null;
  /** What stands at the port, and what beside it. */
  sides: readonly (Alternative | null)[];
  onSides: (sides: (Alternative | null)[]) => void;
  onLink: (link: string) => void;
  color: Key;
  onColor: (color: Key) => void;
  /** As fits what stands at the port if not given. */
  lanes: Grouping | undefined;
  onLanes: (lanes: Grouping | undefined) => void;
}

const groupings = ["queue", "class", "flow"] as const;

/** What is watched, and how. */
export function Choosers(props: Props) {
  const { project, made, sides, onSides, color, lanes } = props;
  const t = useTexts().watch;
  const description = made?.descriptions[0];
  const choices = useMemo(() => {
    const group = (name: string, kind: string, names: readonly string[]): Choice[] =>
      names.map((each) => ({ value: `${kind}:${each}`, label: each, group: name }));
    const variants = description?.variants ?? [];
    return [
      ...(variants.length > 1 ? group(t.variants, "variant", variants) : []),
      ...group(t.policies, "policy", policiesOf(project)),
      ...group(t.mechanisms, "mechanism", mechanismNames),
    ];
  }, [description, project, t]);
  const links = description?.links ?? [];
  const [first = null, second = null] = sides;
  return (
    <div class="watch-choosers">
      <Select
        label={t.port}
        value={made?.link ?? ""}
        choices={links.map(({ name, from, to }) => ({
          value: name,
          label: `${name} (${from} → ${to})`,
        }))}
        onChange={props.onLink}
      />
      <Select
        label={t.variant}
        value={writtenAlternative(first)}
        choices={[{ value: "", label: t.asItIs }, ...choices]}
        onChange={(chosen) => onSides([readAlternative(chosen), second])}
      />
      <Select
        label={t.beside}
        value={writtenAlternative(second)}
        choices={[{ value: "", label: t.nothing }, ...choices]}
        onChange={(chosen) => onSides([first, readAlternative(chosen)])}
      />
      <Select
        label={t.color}
        value={color}
        choices={(["class", "flow"] as const).map((key) => ({ value: key, label: t.colors[key] }))}
        onChange={(chosen) => props.onColor(chosen as Key)}
      />
      <Select
        label={t.lanes}
        value={lanes ?? ""}
        choices={[
          { value: "", label: t.asFits },
          ...groupings.map((key) => ({ value: key, label: t.groupings[key] })),
        ]}
        onChange={(chosen) => props.onLanes(groupings.find((key) => key === chosen))}
      />
    </div>
  );
}

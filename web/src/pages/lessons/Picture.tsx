import { useMemo } from "preact/hooks";
import { type Alternative, Breathing } from "../watch/Breathing";
import type { Exercise } from "./exercise";
import type { Numbers } from "./lesson";

interface Props {
  exercise: Exercise;
  controls: Numbers<string>;
}

/** The port of a lesson, animated where the sliders stand; two variants side by side. */
export function Picture({ exercise, controls }: Props) {
  const { lesson, parameters } = exercise;
  const project = useMemo(() => exercise.project, [exercise]);
  const set = JSON.stringify(exercise.settingsAt(controls));
  const options = useMemo(() => ({ set: JSON.parse(set) as string[] }), [set]);
  const [first = null, second = null] = lesson.watched.map((variant): Alternative => ({ variant }));
  return (
    <Breathing
      key={lesson.name}
      compact
      project={project}
      options={options}
      link={lesson.link}
      first={first}
      second={second}
      start={lesson.warmup(parameters)}
      {...(lesson.speed ? { speed: lesson.speed } : {})}
    />
  );
}

import { filled } from "./words";

/** A text in which `*so*` is stressed. */
export function Rich({ text }: { text: string }) {
  return (
    <>
      {filled(text)
        .split("*")
        .map((part, i) =>
          // Every other part stands between stars. The parts of a text never change places.
          i % 2 === 1 ? <em key={`${i}`}>{part}</em> : part,
        )}
    </>
  );
}

/** A sentence of the core, whose words of a configuration stand between backticks. */
export function Coded({ text }: { text: string }) {
  return (
    <>
      {text.split(/`([^`]*)`/).map((part, i) => (i % 2 === 1 ? <code key={i}>{part}</code> : part))}
    </>
  );
}

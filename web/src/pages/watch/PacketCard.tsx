import { useTexts } from "../../texts";
import { Button } from "../../ui/Button";
import { value } from "../../ui/format";
import type { Replay } from "./model";
import { timeInWords } from "./words";

interface Props {
  replay: Replay;
  packet: number;
  /** s */
  time: number;
  onClose: () => void;
}

/** Everything about one packet, as of a time and to its end. */
export function PacketCard({ replay, packet, time, onClose }: Props) {
  const t = useTexts().watch.packet;
  const { recording } = replay;
  const of = replay.packet(packet);
  const began = Number.isNaN(of.left) ? of.dropped : of.left;
  const rows: [string, string][] = [
    [t.flow, recording.flows[of.flow] ?? ""],
    [t.class, recording.classes[of.cls] ?? ""],
    [t.queue, recording.queues[of.queue] ?? ""],
    [t.size, value(of.bytes, "B")],
    [t.arrived, timeInWords(of.arrived)],
    began <= time
      ? [t.waited, value(began - of.arrived, "s")]
      : [t.waits, value(Math.max(0, time - of.arrived), "s")],
  ];
  if (!Number.isNaN(of.marked)) {
    rows.push([t.marked, timeInWords(of.marked)]);
  }
  if (!Number.isNaN(of.left)) {
    rows.push([t.left, timeInWords(of.left)]);
  }
  if (!Number.isNaN(of.dropped)) {
    rows.push([t.dropped, timeInWords(of.dropped)]);
    rows.push([t.reason, recording.reasons[of.reason] ?? ""]);
  }
  return (
    <section class="watch-packet" aria-label={t.title(packet)}>
      <h3>{t.title(packet)}</h3>
      <Button kind="quiet" label={t.close} title={t.close} onClick={onClose}>
        ×
      </Button>
      <dl>
        {rows.map(([name, said]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{said}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

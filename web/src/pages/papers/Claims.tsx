import { number, withInterval } from "../../ui/format";
import { inWords } from "../../ui/words";
import type { Figure, Lookup, Settings } from "./figure";
import { type Claim, claimsOf } from "./found";
import { type Estimate, estimate } from "./statistics";
import type { FigureWords, PapersWords } from "./words";

/** The signs of verdicts, as the papers' pages have them, and their tone. */
const MARKS: Readonly<Record<string, readonly [sign: string, tone: string]>> = {
  reproduced: ["✓", "pass"],
  "shape only": ["~", "undecided"],
  "not reproduced": ["✗", "fail"],
  undecided: ["?", "undecided"],
};

interface Props {
  figure: Figure;
  settings: Settings;
  of: Lookup;
  t: PapersWords;
  words: FigureWords;
}

/** The claims that a figure is about: what paper and reproduction have, and what is measured here. */
export function Claims({ figure, settings, of, t, words }: Props) {
  const claims = claimsOf(figure.name);
  const head = t.columns;
  return (
    <section class="figure-claims" aria-labelledby="figure-claims">
      <h2 id="figure-claims">{t.measured}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard. */}
      <section class="figure-scroll" aria-label={t.measured} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col" colSpan={2}>
                {head.says}
              </th>
              <th scope="col">{head.what}</th>
              <th scope="col">{head.paper}</th>
              <th scope="col">{head.ours}</th>
              <th scope="col">{head.verdict}</th>
              <th scope="col">{head.here}</th>
            </tr>
          </thead>
          <tbody>
            {figure.readings.map(({ claim: id, unit, values }) => {
              const claim = claims[id];
              const here = estimate(values(of, settings) ?? []);
              return (
                claim && (
                  <tr key={id}>
                    <th scope="row">{id}</th>
                    <td class="figure-says">{words.says[id]}</td>
                    <td class="figure-cell" data-label={head.what}>
                      {together(words.readings[id] ?? "")}
                    </td>
                    <td class="figure-cell figure-number" data-label={head.paper}>
                      {claim.paper}
                    </td>
                    <td class="figure-cell figure-number" data-label={head.ours}>
                      {inWords(claim.ours)}
                    </td>
                    <td class="figure-cell" data-label={head.verdict}>
                      <Found claim={claim} words={t.verdicts} />
                    </td>
                    <td class="figure-cell figure-number figure-here" data-label={head.here}>
                      {here ? inWords(said(here, unit)) : "–"}
                    </td>
                  </tr>
                )
              );
            })}
          </tbody>
        </table>
      </section>
      <p class="figure-note">
        {t.hereNote} {t.interval}
      </p>
    </section>
  );
}

function Found({ claim, words }: { claim: Claim; words: Readonly<Record<string, string>> }) {
  const [sign, tone] = MARKS[claim.verdict] ?? ["–", ""];
  return (
    <span class={`verdict verdict-${tone}`}>
      <span class="verdict-mark" aria-hidden="true">
        {sign}
      </span>
      {words[claim.verdict] ?? claim.verdict}
    </span>
  );
}

/** A number and its unit on one line. */
function together(text: string): string {
  return text.replaceAll(/(\d) (?=[a-z%])/gi, "$1\u00a0");
}

/** A mean with its interval; percent and plain numbers are as they stand. */
function said({ mean, half }: Estimate, unit: string): string {
  if (unit === "%") return `${number(mean, half, 1, true)} %`;
  return unit === "" ? number(mean, half, 1, true) : withInterval(mean, half, unit);
}

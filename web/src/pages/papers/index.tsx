import "./papers.css";
import type { Route } from "../../app/router";
import { useTexts } from "../../texts";
import { FigurePage } from "./FigurePage";
import { figures } from "./figures";
import { papers } from "./found";
import { usePapersWords } from "./words";

/** Figures of papers that are computed in the page: all of them, or one. */
export function Page({ route }: { route: Route }) {
  const { notFound } = useTexts().app;
  const [name] = route.rest;
  if (name === undefined) return <All />;
  const figure = figures.find((f) => f.name === name);
  if (!figure) return <p class="notice">{notFound(`papers/${name}`)}</p>;
  return <FigurePage key={name} figure={figure} query={route.query} />;
}

function All() {
  const t = usePapersWords();
  return (
    <div class="papers">
      <h1>{t.title}</h1>
      <p class="papers-intro">{t.intro}</p>
      <ul class="papers-list">
        {figures.map(({ name }) => {
          const { citation, claims } = papers[name];
          const verdicts = Object.values(claims).map((c) => c.verdict);
          const reproduced = verdicts.filter((v) => v === "reproduced").length;
          const words = t.set[name];
          return (
            <li key={name}>
              <h2>
                <a href={`#/papers/${name}`}>{words.title}</a>
              </h2>
              <p>{words.brief}</p>
              <p class="figure-citation">
                {citation} {words.figure}. {t.counts(reproduced, verdicts.length)}.
              </p>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

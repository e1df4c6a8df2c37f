import { useEffect } from "preact/hooks";
import type { Engine } from "../engine/api";
import { EngineProvider } from "../engine/context";
import { type PageName, pages } from "../pages/table";
import { handedProblem, handedTimes } from "../share/handed";
import { choose, type Language, language, languages, useTexts } from "../texts";
import { Button } from "../ui/Button";
import { route } from "./router";
import { chooseTheme, type Theme, theme } from "./theme";

/** The frame around every page. */
export function App(props: { engine: Engine }) {
  const t = useTexts().app;
  return (
    <EngineProvider engine={props.engine}>
      <button type="button" class="skip" onClick={toContent}>
        {t.skip}
      </button>
      <Header />
      <main id="content" tabIndex={-1}>
        <Complaint />
        {"WebAssembly" in globalThis ? <Content /> : <p class="notice">{t.noWasm}</p>}
      </main>
    </EngineProvider>
  );
}

// No link: the fragment is the route.
function toContent() {
  document.getElementById("content")?.focus();
}

function current(): string {
  return route.value.page || (pages.keys().next().value ?? "");
}

function Content() {
  const t = useTexts().app;
  const name = current();
  const Page = pages.get(name);
  const title = t.pages[name as PageName];
  useEffect(() => {
    document.title = title ? `${title} – ${t.name}` : t.name;
  }, [title, t.name]);
  // A page reads what it begins with when it is mounted.
  return Page ? (
    <Page key={`${name}-${handedTimes.value}`} route={route.value} />
  ) : (
    <p class="notice">{t.notFound(name)}</p>
  );
}

/** Why a link brings nothing; the page stays usable. */
function Complaint() {
  const t = useTexts().share;
  const why = handedProblem.value;
  if (why === null) return null;
  return (
    <p class="complaint" role="alert">
      {t.broken(why)}{" "}
      <Button
        onClick={() => {
          handedProblem.value = null;
        }}
      >
        {t.dismiss}
      </Button>
    </p>
  );
}

function Header() {
  const t = useTexts().app;
  const here = current();
  return (
    <header class="top">
      <a class="brand" href="#/">
        {t.name}
      </a>
      <nav aria-label={t.navigation}>
        {[...pages.keys()].map((name) => (
          <a key={name} href={`#/${name}`} aria-current={name === here ? "page" : undefined}>
            {t.pages[name as PageName]}
          </a>
        ))}
      </nav>
      <div class="choices">
        <Choice
          label={t.theme}
          value={theme.value}
          options={t.themes}
          onChoose={(chosen) => chooseTheme(chosen as Theme)}
        />
        <Choice
          label={t.language}
          value={language.value}
          options={languages}
          onChoose={(chosen) => choose(chosen as Language)}
        />
      </div>
    </header>
  );
}

function Choice(props: {
  label: string;
  value: string;
  options: Record<string, string>;
  onChoose: (chosen: string) => void;
}) {
  return (
    <select
      aria-label={props.label}
      title={props.label}
      value={props.value}
      onChange={(event) => props.onChoose(event.currentTarget.value)}
    >
      {Object.entries(props.options).map(([value, words]) => (
        <option key={value} value={value}>
          {words}
        </option>
      ))}
    </select>
  );
}

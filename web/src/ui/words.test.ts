import { afterEach, expect, it } from "vitest";
import { language } from "../texts";
import { inWords, unitWord } from "./words";

afterEach(() => {
  language.value = "en";
});

it("numbers and units are written as the chosen language has them", () => {
  language.value = "en";
  expect(inWords("12.5 packets")).toBe("12.5 packets");
  expect(unitWord("packets")).toBe("packets");
  language.value = "de";
  expect(inWords("12.5 ±0.2 packets")).toBe("12,5 ±0,2 Pakete");
  expect(inWords("3.1 % points")).toBe("3,1 Prozentpunkte");
  expect(unitWord("packets")).toBe("Pakete");
  expect(unitWord("Mb/s")).toBe("Mb/s");
});

/** For tests of "Train one yourself, here" in the chapter "How it learnt". */
import { readdirSync } from "node:fs";
import { testDigits } from "../../web/scripts/data.mjs";
import { DIGITS, skip } from "./harness.mjs";
import { visitChapter } from "./story.mjs";

export const assets = new URL("../../build/page/assets/", import.meta.url);
export const file = skip ? undefined : readdirSync(assets).find((name) => name.startsWith("mnist-digits"));
export const mnist = skip ? undefined : testDigits();
export const needsMnist = { skip: skip || (file && mnist ? false : "MNIST is not at hand, or was not when the page was built") };

export const STATUS = "#learning-live-status", NUMBERS = "#learning-live-numbers";
/** `run` is what the ids of another run than the first end with. */
export const inPhase = (page, phase, run = "") => page.locator(`${STATUS}${run}[data-phase=${phase}]`).waitFor();
export const numbers = (page, run = "") => page.locator(NUMBERS + run).evaluate(({ dataset, textContent }) => ({ ...dataset, textContent }));
/** Waits until a run is past these numbers; before its first step it has none. */
export const stepAfter = (page, { epoch = 0, step = 0 }, run = "") =>
  page.waitForFunction(([selector, epoch, step]) => {
    const { dataset } = document.querySelector(selector);
    return Number(dataset.epoch) > Number(epoch) || (dataset.epoch === epoch && Number(dataset.step) > Number(step));
  }, [NUMBERS + run, epoch, step]);
export const press = (page, name) => page.locator("#learning-live").getByRole("button", { name, exact: true }).click();
export const recipe = async (page, run = "") => JSON.parse(await page.locator(`.live-column:has(${STATUS}${run}) pre`).textContent());
export const frames = (page, count) => page.evaluate((count) => new Promise((done) => {
  const next = () => (count-- > 0 ? requestAnimationFrame(next) : done());
  next();
}), count);
/** Chooses the preset with 1,000 images. */
export const choose = async (page, preset, epochs) => {
  await press(page, preset);
  await page.selectOption("#live-images", "1000");
  await page.selectOption("#live-epochs", String(epochs));
};
export const visitLive = async (browser, options) => {
  const visit = await visitChapter(browser, "learning", DIGITS[1], options);
  await visit.page.locator("#learning-says[data-label]").waitFor(); // the figures above have their height
  await visit.page.locator("#train-it > summary").click();
  await visit.page.locator("#learning-live-train").scrollIntoViewIfNeeded();
  return visit;
};

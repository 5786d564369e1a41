// The choices in the story's chapters: links hold them, and a change of language keeps them.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { copied, DIGITS, ink, settled, skip, toChapter, withBrowser } from "./harness.mjs";
import { file } from "./live.mjs";
import { openChapter } from "./story.mjs";

/** Whether this build has MNIST, and so the panel of a run. */
const runs = file !== undefined;
/** Another preset than at first, and then each control otherwise than it has it. So many heads need this width. */
const PANEL = {
  "live-myvit": "on", "live-width": "16", "live-depth": "4", "live-heads": "8", "live-patch": "14", "live-position": "none",
  "live-residual": "off", "live-rate": "0.01", "live-augment": "on", "live-images": "1000", "live-epochs": "2", "live-two": "on",
};

/** What is chosen in the chapters, by the names that a link has for the choices. */
const CHOICES = {
  patches: { filter: "5", added: "7" },
  positions: { kind: "learned", placed: "off" },
  score: { query: "patch" },
  block: { token: "patch" },
  layers: { "out-mlp-1-0": "on", "out-head-0-2": "on" },
  strokes: { moment: "3" },
  doubt: { temperature: "4" },
  learning: { step: "7", ...(runs && PANEL) },
  cnn: { blocks: "2" },
  masks: { mask: "causal", side: "20" },
  why: { class: "4" },
};

/** Where the choices are made. Others are made at the id of their name. */
const CONTROLS = {
  filter: "#patches-filters", added: "#patches-added",
  kind: "#positions-kind", placed: "#scramble-positions", query: "#score .chips", token: "#block .chips >> nth=0",
  "out-mlp-1-0": ".part[data-part='mlp 1 0']", "out-head-0-2": ".part[data-part='head 0 2']",
  moment: "#strokes-time", temperature: "#doubt .temperature input", step: "#learning-step",
  "live-ours": "#learning-live [data-kind=ours]", "live-myvit": "#learning-live [data-kind=myvit]",
  blocks: "#cnn .chips", mask: "#masks .chips", side: "#masks-side", class: "#why-class",
};
const at = (name) => CONTROLS[name] ?? `#${name}`;

/** Goes to a chapter, and waits for where choices are made. */
const reach = async (page, id, ...names) => {
  await toChapter(page, id);
  if (names.some((name) => name.startsWith("live-"))) {
    await page.locator("#train-it").waitFor();
    if (!(await page.locator("#train-it").evaluate(({ open }) => open))) await page.click("#train-it > summary");
  }
  for (const name of names) await page.locator(at(name)).waitFor();
};
const choose = (page, name, value) =>
  page.locator(at(name)).evaluate((control, value) => {
    if (control.tagName === "BUTTON") return control.click();
    const input = control.tagName === "FIELDSET" ? control.querySelector(`[value="${value}"]`) : control;
    if (["radio", "checkbox"].includes(input.type)) return input.click();
    input.value = value;
    for (const event of ["input", "change"]) input.dispatchEvent(new Event(event, { bubbles: true }));
  }, value);
const valueOf = (page, name) =>
  page.locator(at(name)).evaluate((control) => {
    if (control.tagName === "BUTTON") return control.ariaPressed === "true" ? "on" : "off";
    const input = control.tagName === "FIELDSET" ? control.querySelector(":checked") : control;
    return input.type === "checkbox" ? (input.checked ? "on" : "off") : input.value;
  });
/** The order of the scrambled patches, as a link holds it. */
const orderOn = async (page) => {
  const verdict = page.locator("#scramble-change[data-order]");
  while (await page.locator("#scramble-back").isDisabled()) await settled(page);
  return String.fromCharCode(...(await verdict.getAttribute("data-order")).split(" ").map((patch) => Number(patch) + (patch < 26 ? 65 : 71)));
};
const waitForValue = async (page, name, value) => {
  for (const end = Date.now() + 30_000; (await valueOf(page, name)) !== value; await settled(page))
    assert.ok(Date.now() < end, `${name} is ${await valueOf(page, name)}, not ${value}`);
};

describe("choices in the chapters", { skip }, () => {
  const browser = withBrowser();

  const visit = (options) => browser.visit({ permissions: ["clipboard-write"], ...options });
  /** Shares without a scroll to the button. */
  const linkOf = (page) => copied(page, () => page.locator("#share").evaluate((button) => button.click()));

  test("a link holds the choices in the chapters, also of those that its visitor has not come to yet", async () => {
    const { page, close } = await visit();
    await ink(page, DIGITS[3]);
    for (const [id, choices] of Object.entries(CHOICES)) {
      await reach(page, id, ...Object.keys(choices));
      await settled(page);
      for (const [name, value] of Object.entries(choices)) {
        if (name === "moment") await page.waitForFunction(() => Number(document.querySelector("#strokes-time").max) > 3);
        await choose(page, name, value);
        await waitForValue(page, name, value);
      }
    }
    await openChapter(page, "positions", "#scramble");
    await page.click("#scramble");
    const order = await orderOn(page);
    const link = await linkOf(page);
    await close();
    assert.ok(link.length < 2300, `${link.length} characters`);
    const set = (text) => new URLSearchParams(new URL(text).hash).get("set").split("~").sort();
    const all = Object.values(CHOICES).flatMap((choices) => Object.entries(choices).map((choice) => choice.join(".")));
    all.push(`order.${order}`), all.sort();
    assert.deepEqual(set(link), all);

    const other = await visit({ address: link.replace(/&at=\w+/, "") });
    await settled(other.page);
    assert.deepEqual(set(await linkOf(other.page)), all, "passed on unseen");
    for (const [id, choices] of Object.entries(CHOICES)) {
      await reach(other.page, id, ...Object.keys(choices));
      for (const [name, value] of Object.entries(choices)) await waitForValue(other.page, name, value);
    }
    assert.equal(await orderOn(other.page), order);
    assert.equal(await other.page.locator("#scramble-back").isEnabled(), true, "the patches are scrambled");
    await other.page.locator(".layers[aria-busy=false]").waitFor();
    assert.match(await other.page.locator(".effect").textContent(), /^Without block 1’s head 3 and block 2’s MLP/);
    assert.deepEqual(set(await linkOf(other.page)), all);
    await other.close();
    const invalid = await visit({ address: link.replace(/&set=.*/, "&set=mask.no-such~kind.7~step.900~x~.~class.-1~nothing.1~order.AAB") });
    for (const [id, name, value] of [["positions", "kind", "sincos2d"], ["masks", "mask", "full"], ["why", "class", "3"]]) {
      await reach(invalid.page, id, name);
      await settled(invalid.page);
      await waitForValue(invalid.page, name, value);
    }
  });

  test("a change of language keeps the panel of a run, and a link opens it without trainer or images", { skip: !runs }, async () => {
    const { page, close } = await visit();
    await ink(page, DIGITS[3]);
    await reach(page, "learning", "live-ours");
    await page.click(at("live-ours"));
    await page.click(at("live-myvit"));
    for (const name of ["width", "heads"]) await page.selectOption(`#live-${name}`, PANEL[`live-${name}`]);
    await page.check("#live-two");
    await page.selectOption("#language", "de");
    await page.locator("#learning", { hasText: "gelernt" }).waitFor();
    await reach(page, "learning", "live-two");
    const names = ["live-myvit", "live-width", "live-heads", "live-two"];
    for (const name of names) await waitForValue(page, name, PANEL[name]);
    await waitForValue(page, "live-ours", "off");
    await waitForValue(page, "live-rate", "0.005"); // the preset's
    const link = await linkOf(page);
    await close();

    const requests = [];
    const other = await visit({ address: link, before: (page) => page.on("request", (request) => requests.push(request.url())) });
    await toChapter(other.page, "learning");
    await other.page.locator("#train-it[open] #live-two").waitFor(); // a link's run is not folded
    for (const name of names) await waitForValue(other.page, name, PANEL[name]);
    await waitForValue(other.page, "live-rate", "0.005");
    assert.equal(await other.page.locator("#learning-live .live-column").count(), 2);
    assert.ok(requests.some((url) => /\/live-/.test(url)), requests.join(" "));
    assert.deepEqual(requests.filter((url) => /mnist-digits|train/.test(url)), []);
  });

  test("a change of language keeps the choices in the chapters, and a link that is opened there changes its own", async () => {
    const { page } = await visit();
    await ink(page, DIGITS[3]);
    for (const [id, name, value] of [["why", "class", "5"], ["masks", "mask", "cross"]]) {
      await reach(page, id, name);
      await settled(page);
      await choose(page, name, value);
    }
    await page.selectOption("#language", "de");
    await page.locator("#masks-title").filter({ hasText: /Encoder, Decoder/ }).waitFor();
    await page.locator("#masks .lead").waitFor();
    await waitForValue(page, "mask", "cross");
    const { hash } = new URL(await linkOf(page));
    assert.match(hash, /&set=class\.5~mask\.cross$/);
    await page.evaluate((hash) => (location.hash = hash), hash.replace(/&set=.*/, "&set=mask.causal"));
    await waitForValue(page, "mask", "causal");
    assert.match(await linkOf(page), /&set=class\.5~mask\.causal$/);
    await reach(page, "why", "class");
    await waitForValue(page, "class", "5");
  });
});

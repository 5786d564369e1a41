// Sharing a drawing by a link, a picture or code, and keeping it over a reload.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import sharp from "sharp";
import { fillFooter, sourceOf } from "../../web/demo/footer.mjs";
import { previewTags } from "../../web/demo/preview.mjs";
import { pageFolder } from "../../web/scripts/build.mjs";
import { typeOf } from "../../web/scripts/serve.mjs";
import { openServer } from "../node/server.mjs";
import { DIGITS, copied, ink, modelWith, openCloser, painted, picture, prediction, saved, settled, skip, withBrowser } from "./harness.mjs";
import { drawingOn } from "./story.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

describe("sharing and saving", { skip }, () => {
  const browser = withBrowser();

  const visit = (options) => browser.visit({ permissions: ["clipboard-write"], ...options });
  /** Allows a small difference, because another load may take a build that rounds differently. */
  const answers = async (page, { label, p }) => {
    const now = await prediction(page);
    assert.equal(now.label, label);
    assert.ok(Math.abs(now.p - p) < 1e-4, `${now.p}, but ${p} before`);
  };
  const status = (page) => page.locator("#status").textContent();
  const linkOf = (page) => copied(page, async () => {
    await page.locator("#share").evaluate((button) => button.click()); // without a scroll to it
    await page.locator("#status", { hasText: /^Link copied/ }).waitFor();
  });

  let sharedPage; // the page of tests that need none of their own
  before(async () => {
    sharedPage = (await visit({ closer: true })).page;
  });

  test("a shared link shows the same drawing to another visitor, who may undo it", async () => {
    const first = await visit();
    await ink(first.page, DIGITS[4]);
    const [padPicture, answer] = [await picture(first.page, "#pad"), await prediction(first.page)];
    const link = await linkOf(first.page);
    await first.close();
    assert.ok(link.length < 400, `${link.length} characters for a drawing of two strokes`);
    assert.equal(new URL(link).search, "", "the drawing is in the fragment, which no server sees");
    const { page } = await visit({ address: link });
    await settled(page);
    await answers(page, answer);
    await page.locator(".wordmark").click(); // the keyboard's pen is not part of the drawing
    assert.equal(await picture(page, "#pad"), padPicture);
    assert.equal(new URL(page.url()).hash, "", "the next stroke makes it another drawing");
    await page.click("#undo");
    await settled(page);
    assert.deepEqual(await prediction(page), { label: "", p: "" });
  });

  test("a link holds the choice of map, layer, head and patch, and the chapter on the screen", async () => {
    const { page } = await visit();
    await ink(page, DIGITS[7]);
    const answer = await prediction(page);
    await openCloser(page);
    await page.selectOption("#map", "patch");
    await page.selectOption("#layer", "2");
    await page.selectOption("#head", "3");
    await page.locator("#pixels").focus();
    await page.keyboard.press("ArrowRight");
    await settled(page);
    const words = await page.locator("#explanation").textContent();
    assert.match(words, /row 4, column 5 .* layer 2, head 3/);
    await page.evaluate(() => (location.hash = "layers"));
    await page.locator("#layers .lead").first().waitFor();
    const link = await linkOf(page);
    assert.ok(link.length < 2000, `${link.length} characters`);
    const other = await visit({ address: link });
    await other.page.locator("#layers .lead").first().waitFor();
    await settled(other.page);
    await answers(other.page, answer);
    assert.equal(await other.page.locator("#explanation").textContent(), words);
    assert.ok(await other.page.locator("#map").isVisible(), "what the link chose is in view");
    assert.equal(new URL(other.page.url()).hash, "#layers");
    await other.close();
    const [invalid, ...others] = ["&view=patch.9.mean.1.1&at=nothing", "&view=x&at=%00", "&view=patch.1.1.99.1"].map((end) => link.replace(/&.*/, "") + end);
    const { page: last } = await visit({ address: invalid });
    for (const next of [undefined, ...others]) {
      if (next) {
        await last.keyboard.press("Escape"); // so that the answer is that of the link's drawing
        await last.evaluate((address) => (location.href = address), next);
        await last.waitForFunction(() => !location.hash.startsWith("#d=")); // the page has read the link
      }
      await settled(last);
      await answers(last, answer);
      assert.equal(await last.inputValue("#map"), "class", next ?? invalid);
    }
  });

  test("a large drawing is thinned for its link, by no more than a fifth of the pen, and reads the same", async () => {
    const { page } = await visit();
    await page.click("#clear");
    await ink(page, [Array.from({ length: 2400 }, (_, i) => {
      const at = i / 2400, turn = 6 * Math.PI * at, size = 33 + 0.4 * Math.sin(90 * at); // three times round, trembling
      return [50 + 0.7 * size * Math.sin(turn), 50 - size * Math.cos(turn)];
    })], { moves: 1 });
    const answer = await prediction(page);
    assert.equal(answer.label, "0");
    const whole = await drawingOn(page);
    const link = await linkOf(page);
    const packed = new URLSearchParams(new URL(link).hash.slice(1)).get("d");
    assert.ok(packed.length <= 2000 && packed.length > 200, `${packed.length} characters`);
    const other = await visit({ address: link });
    await settled(other.page);
    assert.equal((await prediction(other.page)).label, "0");
    assert.ok(Math.abs((await prediction(other.page)).p - answer.p) < 0.02);
    await other.page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide")));
    const fewer = (await drawingOn(other.page)).strokes[0];
    assert.ok(fewer.length < whole.strokes[0].length / 2, `${fewer.length} of ${whole.strokes[0].length} points`);
    const away = ({ x, y }) => Math.min(...fewer.slice(1).map((to, i) => {
      const from = fewer[i], [dx, dy] = [to.x - from.x, to.y - from.y];
      const t = Math.min(1, Math.max(0, ((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy || 1)));
      return Math.hypot(x - from.x - t * dx, y - from.y - t * dy);
    }));
    const most = Math.max(...whole.strokes[0].map(away));
    assert.ok(most <= 2, `a point was ${most} units from the line`);
  });

  test("a damaged link is refused with a message, and the drawing on the pad stays", async () => {
    const { page } = await visit();
    await ink(page, DIGITS[7]);
    const answer = await prediction(page);
    const link = await linkOf(page);
    const packed = link.slice(link.indexOf("#d=") + 3);
    const other = packed[9] === "A" ? "B" : "A";
    for (const damaged of [packed.slice(0, -3), packed.slice(0, 9) + other + packed.slice(10), "", "%%%", "A".repeat(100_000)]) {
      await page.evaluate((hash) => (location.hash = hash), `#d=${damaged}`);
      await page.locator("#status", { hasText: /damaged or cut short/ }).waitFor();
      await settled(page);
      assert.deepEqual(await prediction(page), answer);
      await page.click("#clear");
      await page.click("#undo");
      await settled(page);
      assert.doesNotMatch(await status(page), /damaged/);
    }
    await page.evaluate((hash) => (location.hash = hash), `#d=${packed}`);
    await settled(page);
    assert.deepEqual(await prediction(page), answer, "the whole link opens");
  });

  test("a page opened by a damaged link says so when the model has loaded, and works", async () => {
    const { page } = await visit({ address: `${browser.address}#d=AAAA` });
    await page.locator("#status", { hasText: /damaged or cut short/ }).waitFor();
    await ink(page, DIGITS[1]);
    assert.equal((await prediction(page)).label, "1");
    assert.match(await status(page), /ms a drawing/);
  });

  test("the browser's own share function gets the link, and where it takes files, as on phones, the picture beside it", async () => {
    const { page } = await visit({
      before: (page) => page.addInitScript(() => (navigator.share = async (data) => (globalThis.shared = data))),
    });
    await ink(page, DIGITS[3]);
    const shared = async () => {
      await page.click("#share");
      await page.waitForFunction(() => globalThis.shared);
      await page.locator("#status", { hasText: /^Shared/ }).waitFor();
      return page.evaluate(async () => {
        const { url, files } = globalThis.shared;
        globalThis.shared = undefined;
        if (!files) return { url };
        const { width, height } = await createImageBitmap(files[0]);
        return { url, name: files[0].name, size: [width, height] };
      });
    };
    const { url, ...picture } = await shared();
    assert.match(url, /#d=[\w-]{20,}$/);
    assert.deepEqual(picture, {}, "no file where the browser takes none");
    await page.evaluate(() => (navigator.canShare = ({ files }) => files?.every(({ type }) => type === "image/png")));
    assert.deepEqual(await shared(), { url, name: "vitrine-3.png", size: [1200, 630] });
  });

  test("Share works also before its code is there, and says so if the code does not load", async () => {
    let broken = true;
    const { page } = await visit({
      ready: false, excused: /ERR_FAILED|Failed to fetch/,
      before: (page) => page.route(/\/closer-[^/]*\.js/, (route) => (broken ? route.abort() : route.continue())),
    });
    await page.locator("#share[aria-disabled=false]").waitFor();
    await page.click("#share");
    await page.locator("#status", { hasText: /did not load/ }).waitFor();
    broken = false;
    assert.match(await copied(page, () => page.click("#share")), /#d=/);
  });

  test("without a clipboard the address holds the drawing, so that a visitor can copy it, until it is another one", async () => {
    const { page } = await visit({
      before: (page) => page.addInitScript(() => delete Navigator.prototype.clipboard),
    });
    const reads = async (label) => {
      await page.locator("#status.ready").waitFor();
      await settled(page);
      assert.equal((await prediction(page)).label, label);
    };
    const share = async () => {
      await page.click("#share");
      await page.waitForFunction(() => location.hash.startsWith("#d="));
    };
    await ink(page, DIGITS[3]);
    await page.click("#share");
    await page.locator("#status", { hasText: /address above/ }).waitFor();
    assert.match(page.url(), /#d=[\w-]{20,}$/);
    await page.reload();
    await reads("3");
    for (const [strokes, label] of [[DIGITS[1], "1"], [undefined, ""]]) {
      if (!strokes) await ink(page, DIGITS[7]);
      await share();
      await page.click("#clear");
      if (strokes) await ink(page, strokes);
      assert.equal(new URL(page.url()).hash, "");
      await page.reload();
      await reads(label);
    }
    await ink(page, DIGITS[4]);
    await share();
    const link = page.url();
    await page.evaluate(() => (location.hash = "teach-it")); // an entry of its own in the browser's history
    for (const [strokes, label] of [[DIGITS[7], "7"], [[], ""]]) {
      await page.click("#clear");
      await ink(page, strokes);
      await page.goBack();
      await page.waitForFunction(() => location.hash === "");
      await reads(label);
      await page.reload();
      await reads(label);
      await page.goForward();
    }
    await page.evaluate((link) => (location.href = link), link);
    await reads("4");
  });

  const LONG = ["★ my star", "a house with a garden", "7", "五五五五五五五五", "W", "5", "Donaudampfschifffahrtskapitän", "ein Donaudampfschifffahrtskapitän", "8", "9"];
  const SCRAWL = [[[20, 20], [80, 80]], [[80, 20], [20, 80]], [[10, 50], [90, 50]], [[50, 10], [50, 90]]];
  for (const [whose, labels, drawings] of [
    ["the page's model", undefined, [
      { what: "a certain answer", strokes: DIGITS[1], name: "1" },
      { what: "a certain answer, dark, in German", strokes: DIGITS[0], name: "0", colorScheme: "dark", lang: "de" },
      { what: "an unknown sign in French", strokes: SCRAWL, lang: "fr" },
      { what: "a certain answer in Chinese", strokes: DIGITS[3], name: "3", lang: "zh" },
    ]],
    ["a model of long names", LONG, [
      { what: "a short name", strokes: DIGITS[0], name: LONG[0] },
      { what: "a letter before a long word", strokes: DIGITS[4], name: "W" },
      { what: "long names in Serbian", strokes: DIGITS[1], name: LONG[1], lang: "sr" },
      { what: "a long word in Spanish", strokes: DIGITS[7], name: LONG[7], lang: "es" },
    ]],
  ]) {
    test(`a picture has the size of a link's preview, and in it the stage: drawing, map, answer, sentence, legend, address; by ${whose}`, async () => {
      const { page } = await visit({
        closer: true,
        before: async (page) => {
          await page.addInitScript(noteWriting);
          if (!labels) return;
          const body = await modelWith("digits", { labels });
          await page.route(/\/digits-[^/]*\.safetensors$/, (route) => route.fulfill({ body }));
        },
      });
      for (const { what, strokes, name = "drawing", lang = "en", colorScheme = "light" } of drawings) {
        await page.emulateMedia({ colorScheme });
        await page.selectOption("#language", lang);
        await page.locator(`html[lang^=${lang}]`).waitFor({ state: "attached" });
        await page.keyboard.press("Escape");
        await ink(page, strokes);
        await page.evaluate(() => (globalThis.written = []));
        const { name: file, bytes } = await saved(page, () => page.click("#save"));
        assert.equal(file, `vitrine-${name}.png`);
        const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true });
        assert.deepEqual([info.width, info.height], [1200, 630]);
        const at = (x, y) => [...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3)];
        const dark = colorScheme === "dark";
        assert.ok(dark === Math.max(...at(3, 3)) < 40, `the ground of ${what}: ${at(3, 3)}`);
        const [first] = strokes[0], inked = at(Math.round(40 + 5.5 * first[0]), Math.round(40 + 5.5 * first[1]));
        assert.ok(dark ? Math.min(...inked) > 200 : Math.max(...inked) < 80, `ink where the pen was, ${what}: ${inked}`);
        let tinted = 0;
        for (let y = 45; y < 585; y += 10) for (let x = 45; x < 585; x += 10) {
          const [r, , b] = at(x, y);
          tinted += Number(r - b > 25);
        }
        assert.ok(tinted > 60, `${what}: ${tinted} of 2916 spots have the map's colour`);
        const written = await page.evaluate(() => globalThis.written);
        for (const { text, ...box } of written) {
          assert.ok(box.left >= 600 && box.right <= 1170 && box.top >= 40 && box.bottom <= 590, `${what}: ${text}: ${JSON.stringify(box)}`);
          for (const other of written) {
            const apart = other.left >= box.right || box.left >= other.right || other.top >= box.bottom || box.top >= other.bottom;
            assert.ok(apart || other.text === text, `${what}: "${text}" lies on "${other.text}"`);
          }
        }
        assert.equal(written.at(-1).text, "Vitrine", "an address of this machine alone is left out");
        const squeezed = (text) => text.replace(/\s/g, "");
        const all = squeezed(written.map(({ text }) => text).join(""));
        const stage = ["#prediction strong", "#caption", "#caption + span", "#scale-min", "#scale-max", ...(name === "drawing" ? [] : ["#looks"])];
        for (const part of stage) {
          const text = squeezed(await page.locator(part).textContent());
          assert.ok(text !== "" && all.includes(text), `${what}, ${part}: ${text} in ${all}`);
        }
      }
      await page.selectOption("#language", "en"); // the choice is stored for all pages
    });
  }

  test("the picture of a published page has the page's address", async () => {
    const published = "https://someone.example/vitrine/";
    const { page } = await visit({
      closer: true, address: `${published}index.html?lang=en`,
      before: async (page) => {
        await page.addInitScript(noteWriting);
        await page.route(`${published}**`, (route) => {
          const path = join(pageFolder, new URL(route.request().url()).pathname.replace("/vitrine/", ""));
          return route.fulfill({ path, contentType: typeOf(path) });
        });
      },
    });
    await ink(page, DIGITS[1]);
    await saved(page, () => page.click("#save"));
    assert.deepEqual(await page.evaluate(() => globalThis.written.slice(-2).map(({ text }) => text)), ["Vitrine", "someone.example/vitrine"]);
  });

  test("the code that the page shows gives the page's answer in Node", async () => {
    const page = sharedPage;
    await ink(page, DIGITS[3]);
    const { label, p } = await prediction(page);
    await page.click("#code");
    const code = await page.locator("#code-dialog code").textContent();
    const text = await copied(page, () => page.click("#copy"));
    await page.locator("#code-dialog [role=status]", { hasText: "Copied" }).waitFor();
    assert.equal(text, code);
    await page.keyboard.press("Escape");
    await page.locator("#code-dialog").waitFor({ state: "hidden" });
    assert.equal((await prediction(page)).label, label, "Escape closed the dialog and cleared nothing");
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], { cwd: root, encoding: "utf8" });
    assert.match(output, new RegExp(`label: '${label}'`));
    const got = Number(/\bp: ([\d.e-]+)/.exec(output)[1]);
    assert.ok(Math.abs(got - Number(p)) < 1e-4, `${got} there, ${p} on the page`); // builds round differently
  });

  test("a reload keeps the finished strokes although the page gets no event when it is left", async () => {
    const { page } = await browser.visit({
      before: (page) =>
        page.addInitScript(() => {
          for (const name of ["pagehide", "visibilitychange"])
            addEventListener(name, (event) => event.stopImmediatePropagation(), true);
        }),
    });
    await ink(page, DIGITS[7]);
    const before = await prediction(page);
    assert.equal(before.label, "7");
    await page.reload();
    await page.locator("#status.ready").waitFor();
    await settled(page);
    assert.deepEqual(await prediction(page), before);
    await page.locator("#clear").click();
    await page.reload();
    await page.locator("#status.ready").waitFor();
    await settled(page);
    assert.equal((await prediction(page)).label, "", "a cleared drawing does not return");
  });

  test("a reload keeps the drawing, and a damaged stored drawing is ignored", async () => {
    const { page } = await visit();
    await ink(page, DIGITS[7]);
    const [padPicture, answer] = [await picture(page, "#pad"), await prediction(page)];
    await page.reload();
    await page.locator("#status.ready").waitFor();
    await settled(page);
    await answers(page, answer);
    assert.equal(await picture(page, "#pad"), padPicture);
    await page.click("#clear");
    const store = (text) =>
      page.addInitScript((text) => sessionStorage.setItem("vitrine-drawing", text), text);
    for (const broken of ["not a drawing", "A".repeat(1e6)]) {
      await store(broken);
      await page.reload();
      await page.locator("#status.ready").waitFor();
      await page.locator("body.example").waitFor();
    }
  });

  test("a drawing too large for a link is not shared, and the page says so; it outlasts a reload all the same", async () => {
    const { page } = await visit();
    await page.click("#clear");
    await ink(page, [Array.from({ length: 4000 }, (_, at) =>
      [20 + 60 * ((at * 0.37) % 1), 20 + 60 * ((at * 0.61) % 1), 0.2 + (at % 7) / 10])], { moves: 1, pointerType: "pen" });
    await page.click("#share");
    await page.locator("#status", { hasText: /too large for a link/ }).waitFor();
    const inkCount = await painted(page, "#pad");
    await page.reload();
    await page.locator("#status.ready").waitFor();
    await settled(page);
    assert.equal(await painted(page, "#pad"), inkCount);
  });

  test("the buttons Share, Picture and Code are visible and Tab reaches them: narrow, dark, in forced colours", async () => {
    const page = sharedPage;
    await page.click("#clear");
    await ink(page, DIGITS[4]);
    for (const { viewport = { width: 1200, height: 900 }, ...media } of [
      { viewport: { width: 320, height: 560 } }, { colorScheme: "dark" }, { colorScheme: "light", forcedColors: "active" },
    ]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia(media);
      await settled(page);
      await page.locator("#clear").focus();
      const focusIds = [], ids = ["share", "save", "code"];
      for (let i = 0; i < 24 && !ids.every((id) => focusIds.includes(id)); i++) {
        await page.keyboard.press("Tab");
        focusIds.push(await page.evaluate(() => document.activeElement.id));
      }
      await page.locator("#clear").focus(); // a focused button has another border
      for (const id of ids) {
        assert.ok(focusIds.includes(id), `${id} among ${focusIds}`);
        const box = await page.locator(`#${id}`).boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= viewport.width && box.height >= 44);
        const { color, border } = await page.locator(`#${id}`).evaluate((button) => {
          const { color, borderTopColor, borderTopWidth } = getComputedStyle(button);
          return { color, border: `${borderTopWidth} ${borderTopColor}` };
        });
        assert.match(border, /^1(\.5)?px rgb\(/);
        assert.notEqual(color, await page.evaluate(() => getComputedStyle(document.querySelector(".sheet")).backgroundColor));
      }
      await page.locator("#code").focus();
      await page.keyboard.press("Enter");
      assert.ok(await page.locator("#code-dialog").isVisible());
      await page.keyboard.press("Escape");
      assert.equal(await page.evaluate(() => document.activeElement.id), "code");
    }
  });

  test("the footer names the paper, the package and the licence with its text", async () => {
    const page = sharedPage;
    assert.equal(await page.locator("body > footer a").first().getAttribute("href"), "https://arxiv.org/abs/2010.11929");
    assert.match(await page.locator("body > footer").textContent(), /npm install vitrine/);
    await page.locator("footer summary").click();
    assert.ok(await page.locator("footer pre").isVisible());
    assert.equal(await page.locator("footer pre").textContent(), await readFile(new URL("../../LICENSE", import.meta.url), "utf8"));
  });

  test("a link to the page has a preview: title, words, and where the page's address is known a picture", async () => {
    const page = sharedPage;
    const content = (name) => page.locator(`meta[property="${name}"], meta[name="${name}"]`).getAttribute("content");
    assert.equal(await content("og:title"), await page.title());
    assert.equal(await content("og:description"), await content("description"));
    assert.deepEqual([await content("og:type"), await content("twitter:card")], ["website", "summary_large_image"]);
    const tagsAt = (address) => Object.fromEntries(previewTags(address).map(({ attrs }) => [attrs.property, attrs.content]));
    for (const nowhere of [undefined, "", "./", "https://example.org/a#readme", "javascript:alert(1)"])
      assert.deepEqual(tagsAt(nowhere), {}, nowhere);
    const tags = tagsAt("https://example.org/vitrine");
    assert.equal(tags["og:url"], "https://example.org/vitrine/");
    assert.deepEqual(tagsAt("https://example.org/vitrine/"), tags);
    assert.ok(tags["og:image:alt"].length > 20);
    const image = new URL(tags["og:image"]);
    assert.equal(image.origin, "https://example.org");
    const bytes = await readFile(join(pageFolder, image.pathname.replace("/vitrine/", "")));
    const { width, height, format } = await sharp(bytes).metadata();
    assert.deepEqual([String(width), String(height), `image/${format}`], [tags["og:image:width"], tags["og:image:height"], tags["og:image:type"]]);
    assert.deepEqual([width, height], [1200, 630]);
    assert.ok(bytes.length <= 60_000, `${bytes.length} bytes`);
  });

  test("the footer links the source and the documents: in the repository that package.json names, else beside the page", async () => {
    assert.equal(sourceOf({}), undefined);
    assert.equal(sourceOf({ repository: "some words" }), undefined);
    assert.equal(sourceOf({ repository: { url: "javascript:alert(1)" } }), undefined);
    assert.equal(sourceOf({ repository: { url: "git+https://example.org/a/b.git" } }), "https://example.org/a/b");
    assert.equal(sourceOf({ repository: "github:a/b" }), "https://github.com/a/b");
    assert.match(fillFooter("<!-- source -->", {}, ""), /^<a href="source\.tar\.gz"[^>]*>Source<\/a> <a href="documents\.txt"/);
    const listed = execFileSync("tar", ["-tzf", join(pageFolder, "source.tar.gz")], { encoding: "utf8" });
    assert.match(listed, /^vitrine\/src\/vit\.h$/m);
    assert.doesNotMatch(listed, /\.safetensors$/m);
    assert.match(await readFile(join(pageFolder, "documents.txt"), "utf8"), /^# Using Vitrine$/m);
    assert.deepEqual(["documents.txt", "source.tar.gz"].map(typeOf), ["text/plain; charset=utf-8", "application/gzip"]);
    assert.match(fillFooter("<!-- source -->", { repository: "a/b" }, ""), /^<a href="https:/);
  });

  test("the code for a page is a whole page, which draws the strokes and gives the pad's answer", async () => {
    const page = sharedPage; // it leaves the page, so it is the last
    await page.emulateMedia({ colorScheme: "light", forcedColors: "none" });
    await page.click("#clear");
    const strokes = [...DIGITS[4], [[20, 90]]]; // with a dot
    await ink(page, strokes);
    const { label, p } = await prediction(page);
    const inked = (await painted(page, "#pad")) / (await page.locator("#pad").evaluate(({ width }) => width ** 2));
    await page.click("#code");
    const chosen = () => page.locator("#code-dialog :checked").inputValue();
    assert.equal(await chosen(), "node");
    await page.locator("#code-dialog :checked").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await chosen(), "page");
    const html = await copied(page, () => page.click("#copy"));
    await page.locator("#code-dialog [role=status]", { hasText: "Copied" }).waitFor();
    assert.ok(html.split("\n").every((line) => line.length <= 132), "no line is very long");
    const { address, close } = await openServer(async ({ url }, response) => {
      if (url === "/favicon.ico") return void response.writeHead(204).end();
      const path = url.startsWith("/node_modules/vitrine/") && url.slice("/node_modules/vitrine/".length);
      const body = url === "/" ? html : path && (await readFile(join(root, path)));
      response.writeHead(body ? 200 : 404, { "content-type": url === "/" ? "text/html" : typeOf(url) }).end(body || "");
    });
    try {
      await page.goto(address);
      await page.locator("output", { hasText: "%" }).waitFor();
      assert.match(await page.locator("output").textContent(), new RegExp(`^${label}, [\\d.]+ %$`));
      const got = parseFloat((await page.locator("output").textContent()).split(" ")[1]);
      assert.ok(Math.abs(got - 100 * p) < 0.02, `${got} %, ${p} on the page`);
      const there = (await painted(page, "#ink")) / 280 ** 2;
      assert.ok(Math.abs(there - inked) < 0.1 * inked, `${there} of the pad is inked, ${inked} on the page`); // a coarser edge
      assert.ok((await painted(page, "#map")) > 0.2 * 280 ** 2, "the map is drawn");
    } finally {
      await close();
    }
  });
});

/** Notes what is written on pictures of the size that is saved, and in which boxes. */
function noteWriting() {
  globalThis.written = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    if (this.canvas.width === 1200) {
      const box = this.measureText(text);
      globalThis.written.push({
        text, left: x - box.actualBoundingBoxLeft, right: x + box.actualBoundingBoxRight,
        top: y - box.actualBoundingBoxAscent, bottom: y + box.actualBoundingBoxDescent,
      });
    }
    fillText.call(this, text, x, y, ...rest);
  };
}

// node tests/browser/preview.mjs: makes web/demo/public/preview.png, which chats and sites show beside a link to the page.
// It is the picture that a visitor of build/page saves of the example 3, in fewer colours.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import { pageFolder } from "../../web/scripts/build.mjs";
import { main, root, say } from "../../web/scripts/lib.mjs";
import { serve } from "../../web/scripts/serve.mjs";
import { launch } from "./browsers.mjs";
import { saved, settled, visit } from "./harness.mjs";

await main(async () => {
  const server = await serve(pageFolder);
  const browser = await launch();
  try {
    const { page } = await visit(browser, { address: `http://localhost:${server.address().port}/`, closer: true });
    await page.locator("#examples button").nth(3).click();
    await settled(page);
    const { bytes } = await saved(page, () => page.click("#save"));
    const png = await sharp(bytes).png({ palette: true, colours: 64, effort: 10 }).toBuffer();
    writeFileSync(join(root, "web", "demo", "public", "preview.png"), png);
    say(`web/demo/public/preview.png: ${png.length} bytes`);
  } finally {
    await browser.close();
    server.close();
  }
});

/**
 * The service worker. It makes loaded files work offline. It also adds to every answer the headers
 * that isolate the page: threads need them, and a static host does not send them.
 */
import { HEADERS } from "../../base/headers.mjs";

declare const self: ServiceWorkerGlobalScope;
/** The build's name and files, put in by plugin.ts. */
declare const BUILD: string;
declare const FILES: string[];

const SCOPE = self.registration.scope;
/** Caches belong to the whole origin, which may hold other copies of the page. */
const CACHES = `vitrine ${SCOPE} `;
const OWN = CACHES + BUILD; // a page of this build holds a lock of this name; see page.ts
const ISOLATING = [
  "Cross-Origin-Opener-Policy",
  "Cross-Origin-Embedder-Policy",
  "Cross-Origin-Resource-Policy",
] as const;
/** The host gets this long to answer with the page before the stored page is taken. */
const PATIENCE_MS = 4000;

const here = (path: string) => new URL(path, SCOPE).href;
const files = new Set(FILES.map(here));
/** Large files that not every visitor asks for: weights, trainers, the full edition of the module, and MNIST's images (../mnist.mjs). */
const isLarge = (url: string) => /\/[^/]*\.safetensors$|\/vit\.(?:train|full)\.[^/]*\.wasm$|\/mnist-digits-[^/]*$/.test(url);
/** Hashed names change with the content, so one name means the same content in every build. */
const isHashed = (url: string) => url.startsWith(here("assets/"));

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));
self.addEventListener("message", (event) => event.waitUntil(keepLoaded(event.data)));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const [url] = request.url.split(/[?#]/, 1);
  if (request.method !== "GET") return;
  if (request.mode === "navigate" && (url === SCOPE || url === here("index.html"))) {
    event.respondWith(answerPage(request));
  } else if (files.has(url) || isHashed(url)) {
    event.respondWith(answerFile(url, event));
  }
});

// ---- Storing ----------------------------------------------------------------

/** Stores all code, and the large files that an older build had stored. Others follow when loaded. */
async function install(): Promise<void> {
  const cache = await caches.open(OWN);
  const keepFile = async (url: string) => {
    if (!isLarge(url) || (await caches.match(url))) await keep(url);
  };
  await Promise.all([keepPage(cache), ...[...files].map(keepFile)]);
  await self.skipWaiting();
}

/** Stores the page. If the host still has an older page, the next visit tries to install again. */
async function keepPage(cache: Cache): Promise<void> {
  const answer = await fetch(SCOPE, { cache: "reload" });
  const text = await answer.clone().text();
  if (!answer.ok || !text.includes(BUILD)) throw new Error(`${SCOPE} is not of build ${BUILD}`);
  await cache.put(SCOPE, isolated(answer));
}

async function keep(url: string): Promise<void> {
  const cache = await caches.open(OWN);
  if (await cache.match(url)) return;
  const hashed = isHashed(url);
  const cached = hashed ? await caches.match(url) : undefined;
  const answer = cached ?? (await fetch(url, { cache: hashed ? "force-cache" : "no-cache" }));
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  await cache.put(url, isolated(answer));
}

/** Stores the files that a page has loaded, some of them before there was a service worker. */
async function keepLoaded({ loaded }: { loaded: string[] }): Promise<void> {
  await removeOlder();
  await Promise.allSettled(loaded.filter((url) => files.has(url)).map(keep));
}

async function activate(): Promise<void> {
  await removeOlder();
  await self.clients.claim();
}

/**
 * Removes the stored files of older builds, except for those of a page that is still open: the page
 * may ask for files that its host no longer has. While a newer service worker installs, nothing is
 * removed, because its files would look like older ones.
 */
async function removeOlder(): Promise<void> {
  const names = await caches.keys();
  const { held = [] } = await navigator.locks.query();
  const { installing, waiting } = self.registration;
  if (installing || waiting) return;
  const used = new Set([OWN, ...held.map(({ name }) => name)]);
  for (const name of names) {
    if (name.startsWith(CACHES) && !used.has(name)) await caches.delete(name);
  }
}

// ---- Answering --------------------------------------------------------------

/** Answers with the host's page, which may be newer, or with the stored one if the host fails. */
async function answerPage(request: Request): Promise<Response> {
  const stored = await (await caches.open(OWN)).match(SCOPE);
  const hostPage = pageFromHost(request);
  if (!stored) return hostPage;
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE_MS));
  const answer = await Promise.race([hostPage, late]).catch(() => undefined);
  return answer && answer.status < 500 ? answer : stored;
}

/** The host's page with our headers. A page that is not ours, such as a sign-in, is not changed. */
async function pageFromHost(request: Request): Promise<Response> {
  const answer = await fetch(request);
  if (!answer.ok) return answer;
  const body = await answer.blob();
  const whole = new Response(body, answer);
  return (await body.text()).includes('name="vitrine-build"') ? isolated(whole) : whole;
}

async function answerFile(url: string, event: FetchEvent): Promise<Response> {
  const cache = await caches.open(OWN);
  const stored = (await cache.match(url)) ?? (await caches.match(url));
  if (stored) return stored;
  const answer = await fetch(event.request);
  if (!answer.ok || !files.has(url)) return answer;
  const ours = isolated(answer);
  event.waitUntil(cache.put(url, ours.clone()).catch(() => {})); // the line broke, or no room
  return ours;
}

function isolated(answer: Response): Response {
  const { body, status, statusText } = answer;
  const headers = new Headers(answer.headers);
  for (const name of ISOLATING) headers.set(name, HEADERS[name]);
  return new Response(body, { status, statusText, headers });
}

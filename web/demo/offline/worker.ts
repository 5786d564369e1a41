/**
 * The service worker. What was loaded once works offline, and every answer carries the headers that
 * isolate the page, which a static host does not send and threads need.
 */
import { HEADERS } from "../headers.mjs";

declare const self: ServiceWorkerGlobalScope;
/** What the build made; see plugin.ts. */
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
/** The page is asked of its host for so long before the stored one is taken. */
const PATIENCE_MS = 4000;

const here = (path: string) => new URL(path, SCOPE).href;
const files = new Set(FILES.map(here));
const isWeights = (url: string) => url.endsWith(".safetensors");
/** Such names change with the content, so that one name means one content in every build. */
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

/** All code, and those weights that an older build has stored. Others are stored once loaded. */
async function install(): Promise<void> {
  const cache = await caches.open(OWN);
  const keepFile = async (url: string) => {
    if (!isWeights(url) || (await caches.match(url))) await keep(url);
  };
  await Promise.all([keepPage(cache), ...[...files].map(keepFile)]);
  await self.skipWaiting();
}

/** The host may still have an older page; installing is then tried again at the next visit. */
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
  const known = hashed ? await caches.match(url) : undefined;
  const answer = known ?? (await fetch(url, { cache: hashed ? "force-cache" : "no-cache" }));
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  await cache.put(url, isolated(answer));
}

/** A page tells what it loaded, part of it before there was a service worker. */
async function keepLoaded({ loaded }: { loaded: string[] }): Promise<void> {
  await removeOlder();
  await Promise.allSettled(loaded.filter((url) => files.has(url)).map(keep));
}

async function activate(): Promise<void> {
  await removeOlder();
  await self.clients.claim();
}

/**
 * An open page may still ask for a file of its own build, which its host no longer has. While a newer
 * service worker installs, its files are not to be taken for older ones.
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

/** The host's, because it may be newer; the stored one where the host fails or takes too long. */
async function answerPage(request: Request): Promise<Response> {
  const stored = await (await caches.open(OWN)).match(SCOPE);
  const asked = pageFromHost(request);
  if (!stored) return asked;
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE_MS));
  const answer = await Promise.race([asked, late]).catch(() => undefined);
  return answer && answer.status < 500 ? answer : stored;
}

/** A page that is not ours, such as a network's sign-in, stays as it is. */
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
  event.waitUntil(cache.put(url, ours.clone()).catch(() => {})); // broken off, or no room
  return ours;
}

function isolated(answer: Response): Response {
  const { body, status, statusText } = answer;
  const headers = new Headers(answer.headers);
  for (const name of ISOLATING) headers.set(name, HEADERS[name]);
  return new Response(body, { status, statusText, headers });
}

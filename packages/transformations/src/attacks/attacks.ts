/**
 * What somebody might try from inside a transformation (contracts/transformations.md §8 [D418]). The list only grows:
 * a new idea, or an attack that was seen, is a new row.
 */
export interface Attack {
  readonly name: string
  /** Body of `transformEvent(event, metadata)`, which may be async. Returns or throws; `escaped` is defeat. */
  readonly body: string
  /** At the module's top level, before the entry. */
  readonly before?: string
  /**
   * `inside`: ends with an ordinary result or error that shows nothing of the host.
   * `stopped`: ends in a fault of the sandbox, or in an error of the engine where it refuses by itself.
   */
  readonly end: 'inside' | 'stopped'
}

/** Whether a value gives code from text, and with it a global object that has something of Node's. */
const REACH = `
const reach = (...values) => {
  for (const value of values) {
    for (const make of [value?.constructor, value?.constructor?.constructor, value?.__proto__?.constructor?.constructor]) {
      try {
        const found = make('return typeof process + typeof require + typeof Buffer')()
        if (typeof found === 'string') return found === 'undefinedundefinedundefined' ? 'code from text' : 'escaped'
      } catch {}
    }
  }
  return 'inside'
}`

const inside = (name: string, body: string, before = ''): Attack => ({
  name,
  body,
  before: `${REACH}\n${before}`,
  end: 'inside',
})
const stopped = (name: string, body: string, before?: string): Attack => ({
  name,
  body,
  ...(before === undefined ? {} : { before }),
  end: 'stopped',
})

const chains: Attack[] = [
  inside('constructor of a function', 'return { found: reach(() => {}, reach, Object, [].map) }'),
  inside('constructor of what is given', 'return { found: reach(event, metadata, metadata(event), event.properties) }'),
  inside(
    'constructor of our functions',
    'return { found: reach(log, fetch, fetchV2, getCredential, hash.sha256, console.log, structuredClone, URL, atob) }',
  ),
  inside(
    'constructor of what our functions return',
    'return { found: reach(fetch("x:"), new URL("http://a"), new URL("http://a").searchParams, new TextEncoder().encode("a"), hash.md5("a")) }',
  ),
  inside(
    'constructor of async and generator functions',
    'return { found: reach(async () => {}, function* () {}, async function* () {}, (async () => {})()) }',
  ),
  inside(
    'constructor of an error that our functions throw',
    'let found = []; for (const f of [() => getCredential(), () => new URL("x"), () => btoa("☃"), () => new ArrayBuffer(1, { maxByteLength: 2 })]) try { f() } catch (e) { found.push(reach(e, e.constructor)) } return { found }',
  ),
  inside(
    'constructor of a rejection that our functions give',
    'try { await fetchV2("x:") } catch (e) { return { found: reach(e, e.message) } }',
  ),
  inside(
    'caller and arguments of strict functions',
    'const take = (f) => { try { return [f.caller, f.arguments, f.callee] } catch (e) { return reach(e) } }; return { found: [take(log), take(fetch), take(metadata), take(function () {})].map((v) => reach(v)) }',
  ),
  inside(
    'this of the entry',
    'return { found: reach(globalThis), keys: Object.keys(globalThis).filter((k) => /process|require|ivm|host|global$/.test(k)) }',
    '',
  ),
  inside(
    'sloppy this',
    'return { found: typeof (function () { return this })() === "undefined" ? "inside" : "escaped" }',
  ),
  inside(
    'symbols of the global object',
    'return { found: Reflect.ownKeys(globalThis).filter((k) => typeof k === "symbol").map(String) }',
  ),
  inside(
    'prototype of the global object',
    'const found = []; for (let p = globalThis; p; p = Object.getPrototypeOf(p)) found.push(...Reflect.ownKeys(p).map(String)); return { found: found.some((k) => /^(process|require|Buffer|ivm|isolate)$/i.test(k)) ? "escaped" : "inside" }',
  ),
  inside(
    'import of a module of Node',
    'try { return { found: "escaped", m: Object.keys(await import("node:fs")) } } catch (e) { return { found: reach(e) } }',
  ),
  inside(
    'import of a file',
    'try { await import("file:///etc/passwd"); return { found: "escaped" } } catch (e) { return { found: reach(e) } }',
  ),
  inside(
    'import.meta',
    'return { found: reach(import.meta), keys: Object.keys(import.meta), resolve: typeof import.meta.resolve }',
  ),
  inside(
    'indirect eval',
    'try { return { found: (0, eval)("typeof process") } } catch (e) { return { found: reach(e, eval) } }',
  ),
  inside(
    'getters of the debugger’s past',
    'return { found: ["%GetOptimizationStatus", "__lookupGetter__", "__defineGetter__"].map((k) => reach(Object.prototype[k])) }',
  ),
  inside(
    'finalizers',
    'new FinalizationRegistry(() => {}).register({}, 1); return { found: reach(new WeakRef({}), FinalizationRegistry) }',
  ),
  inside(
    'disposal stacks',
    'return { found: reach(typeof DisposableStack === "undefined" ? {} : new DisposableStack()) }',
  ),
  inside('iterator helpers', 'return { found: reach(Iterator.from([1]).map((x) => x), [].values()) }'),
  inside(
    'an own realm',
    'return { found: [typeof ShadowRealm, typeof document, typeof require, typeof WebAssembly, typeof SharedArrayBuffer, typeof Worker, typeof process].every((t) => t === "undefined") ? "inside" : "escaped" }',
  ),
]

const hooks: Attack[] = [
  inside(
    'prepareStackTrace that keeps the frames',
    'let frames; Error.prepareStackTrace = (_, sites) => { frames = sites; return "" }; void new Error("x").stack; return { found: frames.map((s) => reach(s.getThis(), s.getFunction(), s.getTypeName)), files: frames.map((s) => String(s.getFileName())).filter((f) => f.includes("/")) }',
  ),
  inside(
    'prepareStackTrace while we read the stack',
    'throw new Error("x")',
    'let seen = ""; Error.prepareStackTrace = (_, sites) => { seen = sites.map((s) => String(s.getFunction?.() ?? "")).join(); return seen }',
  ),
  inside(
    'prepareStackTrace that throws',
    'throw new Error("x")',
    'Error.prepareStackTrace = () => { throw { escaped: false } }',
  ),
  inside(
    'stackTraceLimit',
    'Error.stackTraceLimit = Infinity; const deep = (n) => n ? deep(n - 1) : (() => { throw new Error("deep") })(); deep(50)',
  ),
  inside(
    'captureStackTrace on what is given',
    'Error.captureStackTrace(event); return { stack: event.stack.replace(/(base transformation|library)/g, "") }',
  ),
  inside(
    'changed prototypes that our code might use',
    'for (const p of [Object.prototype, Array.prototype, Function.prototype, String.prototype, Promise.prototype, Map.prototype]) for (const k of Reflect.ownKeys(p)) try { p[k] = (...given) => { globalThis.caught = given; return { found: reach(given) } } } catch {} return { ok: 1 }',
  ),
  inside(
    'index setters on Array.prototype',
    'for (let n = 0; n < 8; n++) Object.defineProperty(Array.prototype, n, { set(v) { globalThis.stolen = v }, get() { return 7 } }); return [event, event]',
  ),
  inside(
    'an index getter that stands in for failure texts: one that is no text',
    'let n = 0; Object.defineProperty(Array.prototype, 0, { set() {}, get: () => n++ === 0 ? \'{"a":1}\' : undefined }); return event',
  ),
  inside(
    'an index getter that writes members of the result',
    'const texts = [\'"x"]],"of":["__proto__","__proto__"],"errors":[[0,"y"\', { length: 2, 0: \'{"polluted":1}\', 1: "{}" }]; let n = 0; Object.defineProperty(Array.prototype, 0, { set() {}, get: () => texts[n++ % 2] }); return event',
  ),
  inside(
    'an index getter that writes results of other events',
    'Object.defineProperty(Array.prototype, 1, { set() {}, get: () => \'"x"],[7,"y"\' }); return event',
  ),
  inside(
    'accessors at every index of Object.prototype',
    'for (let n = 0; n < 8; n++) Object.defineProperty(Object.prototype, n, { configurable: true, set() {}, get: () => \'"x"]],"of":["constructor"],"errors":[[0,"y"\' }); return [event, event]',
  ),
  inside(
    'optional members of ours on Object.prototype',
    'for (const name of ["use", "jobIds", "of", "owners", "errors", "failures", "outputs", "shared"]) Object.defineProperty(Object.prototype, name, { configurable: true, set() {}, get: () => ["__proto__"] }); return { found: metadata(event) }',
  ),
  inside(
    'members of every descriptor',
    'for (const name of ["get", "set", "value", "writable"]) Object.prototype[name] = () => "caught"; const told = await fetchV2("https://a.example", { headers: { a: "b" } }).catch((e) => reach(e)); return { told, found: metadata(event), url: new URL("http://a").href }',
  ),
  inside(
    'a species that settles twice',
    'Promise.prototype.constructor = { [Symbol.species]: function (run) { run(() => {}, () => {}); run((v) => v, (e) => e) } }; const late = (async () => ({ a: 1 }))(); return late',
  ),
  inside(
    'conversions of every primitive',
    'for (const { prototype } of [String, Number, Boolean, BigInt, Symbol]) { prototype.toString = prototype.valueOf = () => "escaped"; try { prototype[Symbol.toPrimitive] = () => "escaped" } catch {} } return { a: 1, b: "" + 2, c: event.properties }',
  ),
  inside(
    'members of Error.prototype that throw',
    'for (const name of ["name", "message", "stack", "cause", "toString"]) Object.defineProperty(Error.prototype, name, { configurable: true, get() { throw { found: reach(this) } } }); throw new TypeError("x")',
  ),
  inside(
    'a class of ours that is overwritten',
    'for (const name of ["URL", "URLSearchParams", "TextEncoder", "TextDecoder", "hash", "log", "global", "self"]) globalThis[name] = class { constructor() { return { found: reach(new.target) } } }; return await fetch("https://a.example", { body: new URLSearchParams() }).then((a) => ({ a }))',
  ),
  inside('changed JSON', 'JSON.stringify = () => "escaped"; JSON.parse = () => ({ escaped: 1 }); return { a: 1 }'),
  inside(
    'changed Reflect and Object',
    'Reflect.apply = Reflect.construct = Object.defineProperty = Object.hasOwn = () => { throw "caught" }; return { a: 1 }',
  ),
  inside('changed Promise', 'globalThis.Promise = class { constructor() { throw "caught" } }; return { a: await 1 }'),
  inside('toJSON on Object.prototype', 'Object.prototype.toJSON = function () { return 7 }; return { a: 1 }'),
  inside(
    'a species that is not an array',
    'class A extends Array { static get [Symbol.species]() { return Object } } return A.from([event])',
  ),
  inside(
    'toPrimitive on what our functions take',
    'const hostile = { [Symbol.toPrimitive]() { return reach(this) } }; return { found: [hash.md5(hostile), new URLSearchParams({ a: hostile }) + ""] }',
  ),
]

const inputsAndOutputs: Attack[] = [
  inside('a Proxy as output', 'return new Proxy({}, { ownKeys() { throw "trap" }, get() { throw "trap" } })'),
  inside(
    'a Proxy of an array as output',
    'return new Proxy([], { get: (t, k) => k === "length" ? 5 : k === "toJSON" ? undefined : { k: String(k) } })',
  ),
  inside(
    'a Proxy of an array of endless length',
    'return new Proxy([], { get: (t, k) => k === "length" ? Infinity : {} })',
  ),
  inside('a revoked Proxy as output', 'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy'),
  inside('a revoked Proxy as error', 'const { proxy, revoke } = Proxy.revocable(Error, {}); revoke(); throw proxy'),
  inside('a getter that throws in an output', 'return { get a() { throw { found: reach(this) } } }'),
  inside(
    'a thenable that never stops resolving',
    'return { then(resolve, reject) { resolve({ a: 1 }); resolve({ a: 2 }); reject("late"); throw "later" } }',
  ),
  inside(
    'a thenable whose then changes',
    'let n = 0; return { get then() { return n++ ? undefined : (resolve) => resolve({ n }) } }',
  ),
  inside(
    'an error with a hostile toString',
    'const error = new Error("x"); error.toString = error.name = error.message = { toString() { throw "again" } }; throw error',
  ),
  inside(
    'an error whose stack is a getter',
    'throw { get stack() { return "Error\\n    at escaped (/srv/main.ts:1:1)" }, name: "E", message: "m" }',
  ),
  inside(
    'an error with a stack of a million lines',
    'const error = new Error("x"); error.stack = "Error: x" + "\\n    at a (base transformation:1:1)".repeat(1e5); throw error',
  ),
  inside('an error whose cause is itself', 'const error = new Error("x"); error.cause = error; throw error'),
  inside(
    'metadata asked with hostile objects',
    'return { found: [metadata(new Proxy({}, { get: () => "m-0" })), metadata({ get messageId() { return reach(this) } })].map((m) => reach(m)) }',
  ),
  inside(
    'an event that names the prototype',
    'event.__proto__ = { escaped: false }; event["constructor"] = { prototype: {} }; return JSON.parse(JSON.stringify(event))',
  ),
  inside('results made by hand', 'return { toJSON: () => ({ found: "inside", of: [9], errors: [[0, "x"]] }) }'),
  inside(
    'a thrown text that closes what it stands in',
    'throw `"]],"of":["__proto__"],"errors":[[0,"\\n[{}]\\n{"of":[9]}`',
  ),
  inside(
    'an error whose name and message close what they stand in',
    'const error = new Error(`"]]}\\n[{"escaped":1}]`); error.name = `"}]\\u0000\\n`; throw error',
  ),
  inside(
    'a stack that changes while it is read',
    'let n = 0; throw { get stack() { return n++ ? { toString: () => reach(this) } : "x" }, name: { toString() { return `"]` } }, message: [] }',
  ),
  inside(
    'a toJSON that gives another text each time',
    'let n = 0; return [1, 2, 3].map(() => ({ toJSON: () => [7, { of: ["__proto__"] }, "{}"][n++ % 3] }))',
  ),
  inside(
    'JSON that was written before',
    'return { a: JSON.rawJSON("1"), toJSON: undefined, b: JSON.rawJSON(\'"]}"\') }',
  ),
  inside('a toJSON that gives JSON that was written before', 'return { toJSON: () => JSON.rawJSON(\'"{}"\') }'),
  inside(
    'outputs that only look like objects',
    'return [new Map([[1, 2]]), new Date(NaN), new Uint8Array(3), Object(1n) && {}, arguments, new Error("x"), Promise.resolve(1), /x/]',
  ),
  inside(
    'an output whose messageId names a prototype',
    'return ["__proto__", "constructor", "toString", { toString: 1 }].map((messageId) => ({ ...event, messageId, type: messageId }))',
  ),
  inside(
    'an array whose length changes while it is read',
    'const a = [event, event]; Object.defineProperty(a, 0, { get() { a.length = 1; a.push(event, event, event); return event } }); return a',
  ),
  inside(
    'an output that changes after it was returned',
    'const out = { a: { b: 1 } }; Promise.resolve().then(() => { out.a = out; out.__proto__ = Proxy }); return out',
  ),
  inside(
    'numbers that JSON does not know',
    'return { a: NaN, b: -0, c: 1e400, d: 2 ** 60, e: [undefined, () => 1, Symbol()] }',
  ),
  inside('line feeds and separators in outputs', 'return { a: "\\n[{}]\\n\\u2028\\u2029\\0", "\\n": 1 }'),
  inside('half a pair of surrogates', 'return { a: "\\ud800", "\\udfff": "\\ud83d" }'),
  inside('a deeply nested output', 'let deep = {}; for (let n = 0; n < 1e5; n++) deep = { deep }; return deep'),
  inside('too many outputs', 'return Array.from({ length: 1e5 }, () => event)'),
  inside('an output that is too large', 'return { a: "x".repeat(1e7) }'),
  inside(
    'messageIds of every kind',
    'return [1, null, {}, [], "", "x".repeat(1000)].map((messageId) => ({ messageId }))',
  ),
]

const ways: Attack[] = [
  inside(
    'large requests',
    'const body = "x".repeat(1e6); await Promise.all(Array.from({ length: 50 }, () => fetch("http://a.example", { method: "POST", body }))); return { ok: 1 }',
  ),
  inside(
    'addresses inside',
    'const found = []; for (const url of ["http://127.0.0.1", "http://169.254.169.254/", "file:///etc/passwd", "data:,x", "javascript:1", "http://[::1]", "unix:/tmp/x"]) found.push(await fetchV2(url).catch((e) => reach(e))); return { found }',
  ),
  inside(
    'fetch with hostile options',
    'const found = []; for (const options of [{ method: "GET\\r\\nHost: x" }, { headers: { "a\\r\\nb": "c" } }, { headers: { host: "x" } }, { get body() { throw "trap" } }, { headers: new Proxy({}, { ownKeys() { throw "trap" } }) }, null, 5]) found.push(await fetchV2("https://a.example", options).then(() => "answered", (e) => reach(e))); return { found }',
  ),
  inside(
    'credentials by other names',
    'return { found: ["__proto__", "constructor", "toString", Symbol.iterator, {}, 5].map((k) => { try { return String(getCredential(k)) } catch (e) { return reach(e) } }) }',
  ),
  inside(
    'an answer that nobody asked for',
    'delete globalThis.fetch; return { found: typeof globalThis.answer + typeof globalThis.start + typeof globalThis.host }',
  ),
  inside(
    'waiting on shared memory',
    'try { Atomics.wait(new Int32Array(new ArrayBuffer(8)), 0, 0, 1000) } catch (e) { return { found: reach(e) } } return { found: "escaped" }',
  ),
  inside(
    'shared memory of WebAssembly',
    'return { found: reach(globalThis.WebAssembly, globalThis.SharedArrayBuffer) }',
  ),
  inside(
    'a resizable buffer',
    'const found = []; for (const make of [() => new ArrayBuffer(8, { maxByteLength: 2 ** 33 }), () => Reflect.construct(ArrayBuffer, [8, { maxByteLength: 9 }]), () => new (class extends ArrayBuffer {})(8, { maxByteLength: 9 }), () => new (new Uint8Array(1).buffer.constructor)(8, { maxByteLength: 9 }), () => new (Object.getPrototypeOf(new ArrayBuffer(1)).constructor)(1, { maxByteLength: 9 })]) try { found.push(make().resizable ? "escaped" : "fixed") } catch (e) { found.push(reach(e)) } return { found }',
  ),
  inside(
    'a resizable buffer by a changing option',
    'let n = 0; const b = new ArrayBuffer(8, { get maxByteLength() { return n++ ? 64 : undefined } }); return { found: b.resizable ? "escaped" : "inside" }',
  ),
  inside(
    'bodies that are hostile forms',
    'const form = (more) => ({ append() {}, getAll() {}, entries: () => [], ...more }); const bodies = [form({ sort() {}, toString() { return reach(this) } }), form({ entries: () => [["a\\r\\n--b", "c"], [{ toString() { throw "trap" } }, 1]] }), form({ entries: () => [5] }), form({ get sort() { throw "trap" } }), new Proxy({}, { get() { throw "trap" } })]; const found = []; for (const body of bodies) found.push(await fetchV2("https://a.example", { body }).then(() => "answered", (e) => reach(e))); return { found }',
  ),
  inside(
    'headers that name a prototype',
    'const headers = JSON.parse(\'{"__proto__":"a","constructor":"b","toString":"c","content-type":"d"}\'); return { found: await fetchV2("https://a.example", { headers, body: {} }).then(() => "answered", (e) => reach(e)) }',
  ),
  inside(
    'times that are no times',
    'const found = []; for (const timeout of [1e308, Infinity, -Infinity, NaN, 1n, "5", {}, [], Number.MIN_VALUE]) found.push(await fetchV2("https://a.example", { timeout }).then(() => "answered", (e) => reach(e))); return { found }',
  ),
  inside(
    'an error that is logged and throws',
    'log({ a: Object.defineProperty(new Error("x"), "message", { get() { throw new TypeError("trap") } }) })',
  ),
  inside(
    'lines without end',
    'for (let n = 0; n < 1e5; n++) log("x".repeat(100), { n }, new Error("\\ud800")); return { ok: 1 }',
  ),
  inside('log with hostile values', 'log({ toJSON() { throw "trap" } })'),
  inside(
    'a rejection that nobody waits for',
    'Promise.reject(new Proxy({}, { get() { throw "trap" } })); Promise.reject({ get message() { return reach(this) } }); return { ok: 1 }',
  ),
  inside(
    'a rejection after the end',
    'Promise.resolve().then(() => Promise.resolve()).then(() => { throw new Error("late") }); return { ok: 1 }',
  ),
]

const loops: Attack[] = [
  stopped(
    'a then on Object.prototype',
    'Object.prototype.then = function (resolve) { resolve({ found: 1 }) }; return { a: 1 }',
  ),
  stopped('a loop', 'for (;;) {}'),
  stopped('a loop that catches', 'for (;;) try { for (;;) {} } catch {} finally { for (;;) {} }'),
  stopped('recursion that catches', 'const f = () => { try { f() } finally { f() } }; f()'),
  stopped('promises that make promises', 'const again = () => Promise.resolve().then(again); await again()'),
  stopped(
    'promises that nobody waits for',
    'const again = () => { Promise.resolve().then(again) }; again(); return event',
  ),
  stopped('a generator without end', 'for (const x of (function* () { for (;;) yield 1 })()) {}'),
  stopped('a regular expression', 'return { found: /^(a|a|a)+$/.test("a".repeat(60) + "b") }'),
  stopped('a sort that never agrees', 'Array.from({ length: 1e6 }, (_, n) => n).sort(() => { for (;;) {} })'),
  stopped('a number of many digits', 'let n = 3n; for (;;) n **= 7n'),
  stopped('a loop in toJSON', 'return { toJSON() { for (;;) {} } }'),
  stopped(
    'a loop in a getter of a rejection that nobody waits for',
    'Promise.reject({ get message() { for (;;) {} }, get stack() { for (;;) {} } }); return event',
  ),
  stopped('a loop in a Proxy as output', 'return new Proxy({}, { get() { for (;;) {} }, ownKeys() { for (;;) {} } })'),
  stopped(
    'a form without end as body',
    'await fetch("https://a.example", { body: { append() {}, getAll() {}, *entries() { for (;;) yield ["a", "b"] } } })',
  ),
  stopped('a loop in what is logged', 'log({ get a() { for (;;) {} } })'),
  stopped('a wait without end', 'await new Promise(() => {})'),
]

const bombs: Attack[] = [
  stopped('a filled array', 'return { a: new Array(1e9).fill(0) }'),
  stopped('a sorted copy of the longest array', 'return { a: new Array(2 ** 32 - 1).toSorted() }'),
  stopped('matches of a long text', 'return { a: "a".repeat(2e8).match(/a/g) }'),
  stopped('a growing text', 'let a = "x"; for (;;) { a += a; JSON.stringify(a) }'),
  stopped('a growing array', 'const a = []; for (;;) a.push({ a: [1, 2, 3] })'),
  stopped('buffers', 'const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1))'),
  stopped('a map', 'const a = new Map(); for (let n = 0; ; n++) a.set(n, [n])'),
  stopped('a set of text', 'const a = new Set(); for (let n = 0; ; n++) a.add("text ".repeat(100) + n)'),
  stopped('closures', 'let f = () => 0; for (;;) { const g = f; f = () => g }'),
  stopped('promises', 'const a = []; for (;;) a.push(new Promise(() => {}))'),
  stopped('a large split', 'return { a: "ab".repeat(1e8).split("a") }'),
  stopped('a large join', 'return { a: new Array(5e7).join("ab").replaceAll("a", "abc".repeat(10)) }'),
  stopped('Intl objects', 'const a = []; for (;;) a.push(new Intl.DateTimeFormat("de"), new Intl.NumberFormat("en"))'),
  stopped(
    'regular expressions',
    'const a = []; for (let n = 0; ; n++) { const r = new RegExp("(a|b)*".repeat(50) + n); r.test("ab"); a.push(r) }',
  ),
  stopped('typed array copies', 'const a = []; for (;;) a.push(new Float64Array(1e6).map((_, n) => n).toSorted())'),
  stopped('a bomb in what is thrown', 'throw { toJSON() { const a = []; for (;;) a.push(new Array(1e6).fill(1.5)) } }'),
  stopped(
    'long texts to our functions',
    'const a = "x".repeat(3e8); for (let n = 0; n < 50; n++) hash.sha256(a); for (;;) hash.md5(a + a.length)',
  ),
  stopped('many URLs', 'const a = []; for (;;) a.push(new URL("http://a.example/" + "x".repeat(1e5)))'),
]

export const attacks = { chains, hooks, inputsAndOutputs, ways, loops, bombs }

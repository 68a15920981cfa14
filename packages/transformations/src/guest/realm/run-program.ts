/**
 * What the child asks of the sandbox, as texts that go in and come out: the text of a reply, or undefined. Exceptions
 * do not cross.
 */
export type HostCall = (operation: string, ...given: string[]) => string | undefined

/** The functions by which the child runs the code of one version. Only texts and numbers cross. */
export interface RunProgram {
  /** Whether the module has been evaluated to its end. Given a namespace whose default export is the module's own. */
  isReady(entryModule: { default: Record<string, unknown> }): boolean
  /** Those of the two entries that the module exports, separated by commas. */
  entries(): string
  /**
   * Runs all events of a step, as far as it goes without waiting.
   *
   * @param of JSON array: the event of the run that each belongs to; empty when it is one each.
   * @param count events of the run.
   * @returns what `result` gives.
   */
  start(entry: string, events: string, metadata: string, of: string, count: number): string
  /** Header and outputs (messages.ts, SettledMessage), or an empty text while anything is open. */
  result(): string
  /** JSON of the failure text for something thrown. */
  failure(thrown: unknown): string
}

/**
 * Runs inside the sandbox, in the realm of one version: its source crosses, so it may use nothing from outside of it.
 * User code shares this realm and may change any prototype. So what is needed later is taken at the beginning, results
 * are kept in objects without a prototype, and no member is read that may be inherited. What such code can spoil is only
 * its own result, which the server reads as it would read anyone's.
 */
export function runProgram(
  host: HostCall,
  bounds: { maxOutputsPerEvent: number; maxOutputBytes: number; maxOutputLevels: number; maxFailureChars: number },
): RunProgram {
  const { parse, stringify } = JSON
  const { isArray } = Array
  const { create, hasOwn, defineProperty, setPrototypeOf } = Object
  const { apply, construct } = Reflect
  const NativePromise = Promise
  const { then } = NativePromise.prototype
  const { charCodeAt, slice } = String.prototype
  const toText = String

  type Value = Record<string, unknown>
  type Metadata = { shared: string[]; use?: number[]; jobIds?: (string | null)[] }

  /** One step's run over a batch. */
  interface Batch {
    /** Of transformBatch the code's own list, which it may shorten or extend: how many were given is `length`. */
    events: Value[]
    length: number
    /** The event of the run that each belongs to. */
    of: number[] | undefined
    metadata: Metadata
    /** Events of the run. */
    count: number
    /** JSON texts of each event's outputs; undefined as long as it is open. */
    outputs: Record<number, string[] | undefined>
    /** For transformBatch: whose output each is, parallel to the first event's outputs. */
    owners: number[] | undefined
    /** JSON of the failure text, by event. */
    failures: Record<number, string | undefined>
    open: number
  }

  /** An answer of the code that the contract has a text for. */
  class Refusal {
    readonly #text: string
    constructor(text: string) {
      this.#text = text
    }
    /** Asks no proxy anything. */
    static textOf(thrown: unknown): string | undefined {
      return isObject(thrown) && #text in thrown ? (thrown as Refusal).#text : undefined
    }
  }

  let user: Record<string, unknown> | undefined
  let batch: Batch | undefined
  /** Of the last batch: the engine may have lost it on its way out, over a rejection that nobody waited for. */
  let settled = ''

  function isReady(entryModule: { default: Record<string, unknown> }): boolean {
    try {
      user = entryModule.default
      return true
    } catch {
      // The module still waits, at its top level.
      return false
    }
  }

  function entries(): string {
    const names = ['transformEvent', 'transformBatch']
    let found = ''
    for (let at = 0; at < names.length; at++) {
      if (hasOwn(user!, names[at]!)) found += found === '' ? names[at] : `,${names[at]}`
    }
    return found
  }

  function start(entry: string, events: string, metadata: string, of: string, count: number): string {
    settled = ''
    const parsed = parse(events) as Value[]
    batch = {
      events: parsed,
      length: parsed.length,
      of: of === '' ? undefined : (parse(of) as number[]),
      // Its optional members must not be found in a prototype.
      metadata: setPrototypeOf(parse(metadata) as Metadata, null) as Metadata,
      count,
      outputs: create(null),
      owners: undefined,
      failures: create(null),
      open: 0,
    }
    if (entry === 'transformBatch') startBatch(batch)
    else startEvents(batch)
    return result()
  }

  function startEvents(run: Batch): void {
    const { length } = run
    // What is logged before the code first waits is of this event; of one alone everything is.
    const isTold = length > 1 && host('wants logs') !== undefined
    for (let at = 0; at < length; at++) {
      if (isTold) host('event', toText(originOf(run, at)))
      startEvent(run, at)
    }
    if (isTold) host('event', '')
  }

  function startEvent(run: Batch, at: number): void {
    const event = run.events[at]!
    const { messageId } = event
    const metadata = (asked: unknown) =>
      isObject(asked) && asked['messageId'] === messageId ? metadataOf(run, at, messageId) : {}
    run.open++
    const settle = (returned: unknown) => {
      try {
        run.outputs[at] = outputsOfEvent(returned)
      } catch (thrown) {
        run.failures[at] = failure(thrown)
      }
      run.open--
    }
    const fail = (thrown: unknown) => {
      run.failures[at] = failure(thrown)
      run.open--
    }
    call('transformEvent', [event, metadata], settle, fail)
  }

  function startBatch(run: Batch): void {
    const { length } = run
    const ids: Record<number, unknown> = create(null)
    for (let at = 0; at < length; at++) ids[at] = run.events[at]!['messageId']
    const metadata = (asked: unknown) => {
      if (!isObject(asked)) return {}
      const { messageId } = asked
      for (let at = 0; at < length; at++) if (ids[at] === messageId) return metadataOf(run, at, messageId)
      return {}
    }
    run.open = 1
    const settle = (returned: unknown) => {
      try {
        const { texts, owners } = outputsOfBatch(returned, ids, run)
        run.outputs[0] = texts
        run.owners = owners
      } catch (thrown) {
        failAll(failure(thrown))
      }
      run.open = 0
    }
    const failAll = (text: string) => {
      for (let at = 0; at < length; at++) run.failures[at] = text
    }
    const fail = (thrown: unknown) => {
      failAll(failure(thrown))
      run.open = 0
    }
    call('transformBatch', [run.events, metadata], settle, fail)
  }

  /** Calls the entry; exactly one of the two follows, at once or when its promise settles. */
  function call(
    entry: string,
    given: unknown[],
    settle: (returned: unknown) => void,
    fail: (thrown: unknown) => void,
  ): void {
    let returned: unknown
    try {
      // Not as a method of the module, which would show in stack lines.
      const run = user![entry]
      if (typeof run !== 'function') throw new Refusal(`${entry} is not a function`)
      returned = run(given[0], given[1])
      if (typeof returned === 'object' && returned !== null && typeof (returned as Value)['then'] === 'function') {
        const promise = construct(NativePromise, [(resolve: (value: unknown) => void) => resolve(returned)])
        apply(then, promise, [settle, fail])
        return
      }
    } catch (thrown) {
      fail(thrown)
      return
    }
    settle(returned)
  }

  function outputsOfEvent(returned: unknown): string[] {
    if (returned === null || returned === undefined) return []
    if (!isArray(returned)) {
      return [outputText(returned, 'returned event from transformEvent(event) is not an object')]
    }
    const { length } = returned
    if (!(length <= bounds.maxOutputsPerEvent)) throw new Refusal('too many events returned')
    const texts: string[] = []
    for (let at = 0; at < length; at++) {
      const text = 'returned event in events array from transformEvent(event) is not an object'
      defineProperty(texts, at, member(outputText(returned[at], text)))
    }
    return texts
  }

  /**
   * An output belongs to the first event with its messageId that has none yet, else to the last such event; without a
   * match to the event of the output before.
   */
  function outputsOfBatch(
    returned: unknown,
    ids: Record<number, unknown>,
    run: Batch,
  ): { texts: string[]; owners: number[] } {
    if (!isArray(returned)) throw new Refusal('returned events from transformBatch(event) is not an array')
    const { length } = returned
    if (!(length <= bounds.maxOutputsPerEvent * run.count)) throw new Refusal('too many events returned')
    const texts: string[] = []
    const owners: number[] = []
    const isUsed: Record<number, boolean> = create(null)
    const counts: Record<number, number> = create(null)
    let previous = 0
    for (let at = 0; at < length; at++) {
      const output: unknown = returned[at]
      const text = 'returned event in events array from transformBatch(events) is not an object'
      defineProperty(texts, at, member(outputText(output, text)))
      let match = -1
      const id = (output as Value)['messageId']
      for (let input = 0; input < run.length; input++) {
        if (ids[input] !== id) continue
        match = input
        if (isUsed[input] !== true) break
      }
      if (match !== -1) previous = match
      isUsed[previous] = true
      const event = originOf(run, previous)
      counts[event] = (counts[event] ?? 0) + 1
      if (counts[event] > bounds.maxOutputsPerEvent) throw new Refusal('too many events returned')
      defineProperty(owners, at, member(previous))
    }
    return { texts, owners }
  }

  function outputText(output: unknown, otherwise: string): string {
    if (typeof output !== 'object' || output === null || isArray(output)) throw new Refusal(otherwise)
    const text = stringify(output) as string | undefined
    if (text === undefined || apply(charCodeAt, text, [0]) !== 0x7b) throw new Refusal(otherwise)
    if (text.length * 3 > bounds.maxOutputBytes && utf8Bytes(text) > bounds.maxOutputBytes) {
      throw new Refusal('returned event is too large')
    }
    if (isNestedTooDeeply(text)) throw new Refusal('returned event is nested too deeply')
    return text
  }

  /** Of a JSON text: the object itself may be asked nothing more. */
  function isNestedTooDeeply(text: string): boolean {
    // A level takes two characters.
    if (text.length <= bounds.maxOutputLevels * 2) return false
    let levels = 0
    let isInText = false
    for (let at = 0; at < text.length; at++) {
      const unit = apply(charCodeAt, text, [at]) as number
      if (isInText) {
        if (unit === 0x5c) at++
        else if (unit === 0x22) isInText = false
      } else if (unit === 0x22) isInText = true
      else if (unit === 0x7b || unit === 0x5b) levels++
      else if (unit === 0x7d || unit === 0x5d) levels--
      if (levels > bounds.maxOutputLevels) return true
    }
    return false
  }

  function utf8Bytes(text: string): number {
    if (text.length > bounds.maxOutputBytes) return text.length
    let bytes = 0
    for (let at = 0; at < text.length; at++) {
      const unit = apply(charCodeAt, text, [at]) as number
      // Each half of a pair counts two.
      bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
    }
    return bytes
  }

  function result(): string {
    const run = batch
    if (run === undefined) return settled
    if (run.open > 0) return ''
    batch = undefined
    let outputs = ''
    let of = ''
    let errors = ''
    const hasFailed: Record<number, boolean> = create(null)
    if (run.of !== undefined && run.owners === undefined) refuseTooMany(run)
    let isOneEach = run.of === undefined
    const add = (text: string, event: number) => {
      outputs += outputs === '' ? text : `,${text}`
      of += of === '' ? event : `,${event}`
    }
    const origin = (at: number) => originOf(run, at)
    for (let at = 0; at < run.length; at++) {
      const text = run.failures[at]
      const texts = run.outputs[at]
      if (text !== undefined && hasFailed[origin(at)] !== true) {
        hasFailed[origin(at)] = true
        errors += `${errors === '' ? '' : ','}[${origin(at)},${text}]`
      }
      if (run.owners !== undefined || texts?.length !== 1) isOneEach = false
      if (run.owners === undefined && texts !== undefined) {
        for (let each = 0; each < texts.length; each++) add(texts[each]!, origin(at))
      }
    }
    const { owners } = run
    const texts = run.outputs[0]
    if (owners !== undefined && texts !== undefined) {
      for (let at = 0; at < texts.length; at++) add(texts[at]!, origin(owners[at]!))
    }
    const header = isOneEach ? '{}' : `{"of":[${of}]${errors === '' ? '' : `,"errors":[${errors}]`}}`
    settled = `${header}\n[${outputs}]`
    return settled
  }

  /** The event of the run that an event of the step belongs to. */
  function originOf({ of }: Batch, at: number): number {
    return of === undefined ? at : of[at]!
  }

  /** An event that was split before may not become more than one that was not. */
  function refuseTooMany({ of, outputs, failures, length }: Batch): void {
    const counts: Record<number, number> = create(null)
    for (let at = 0; at < length; at++) counts[of![at]!] = (counts[of![at]!] ?? 0) + (outputs[at]?.length ?? 0)
    for (let at = 0; at < length; at++) {
      if (counts[of![at]!]! <= bounds.maxOutputsPerEvent) continue
      outputs[at] = undefined
      failures[at] ??= '"too many events returned"'
    }
  }

  function metadataOf(run: Batch, at: number, messageId: unknown): Value {
    const event = originOf(run, at)
    const { shared, use, jobIds } = run.metadata
    const metadata = parse(shared[use === undefined ? 0 : use[event]!]!) as Value
    if (messageId !== undefined) defineProperty(metadata, 'messageId', member(messageId))
    const jobId = jobIds?.[event]
    if (jobId !== undefined && jobId !== null) defineProperty(metadata, 'jobId', member(jobId))
    return metadata
  }

  /** JSON of the text for what was thrown; whatever it is, asking it cannot throw. */
  function failure(thrown: unknown): string {
    return stringify(failureOf(thrown))
  }

  function failureOf(thrown: unknown): string {
    try {
      const refusal = Refusal.textOf(thrown)
      if (refusal !== undefined) return refusal
      if (typeof thrown === 'string') return cut(thrown) || 'Error'
      if (isObject(thrown) || typeof thrown === 'function') {
        const { stack } = thrown as { stack: unknown }
        if (typeof stack === 'string') {
          const { name, message } = thrown as { name: unknown; message: unknown }
          return host('failure', cut(textOr(name, 'Error')), cut(textOr(message, '')), cut(stack)) ?? 'Error'
        }
      }
      if (thrown === null || thrown === undefined) return 'Error'
      return cut((stringify(thrown) as string | undefined) ?? 'Error')
    } catch {
      return 'Error'
    }
  }

  function textOr(value: unknown, otherwise: string): string {
    return value === undefined ? otherwise : toText(value)
  }

  function cut(text: string): string {
    return text.length > bounds.maxFailureChars ? (apply(slice, text, [0, bounds.maxFailureChars]) as string) : text
  }

  function isObject(value: unknown): value is Value {
    return typeof value === 'object' && value !== null
  }

  /** Of an object or array; plain assignment would ask its prototype first. */
  function member(value: unknown): PropertyDescriptor {
    return { __proto__: null, value, enumerable: true, configurable: true, writable: true } as PropertyDescriptor
  }

  return { isReady, entries, start, result, failure }
}

import type { JsonObject, JsonValue } from '@millrace/protocol'
import { MAX_PATH_LENGTH } from '../limits.ts'
import type { Scalar } from './frequent-values.ts'

/** What an event has at one place: a leaf of some type, or the begin or end of a nested value. */
const KIND = { string: 1, number: 2, boolean: 3, null: 4, object: 5, array: 6, end: 7 } as const
type Kind = (typeof KIND)[keyof typeof KIND]

/** Transitions that are tried one by one before they are looked up. */
const TRIED = 8
const INDEXES = Array.from({ length: 1_000 }, (_, i) => String(i))
/** Of one step with its transition, about, without its key. */
const STEP_BYTES = 250
const MAX_BYTES = 4 * 1024 * 1024
/** Stands for every member name that alone makes its path too long: no such path is a key, so these shapes are one. */
const TOO_LONG = '~'.repeat(MAX_PATH_LENGTH + 1)

interface Transition<EventPlan> {
  readonly key: string
  readonly kind: Kind
  readonly step: Step<EventPlan>
}

/**
 * Where a walk through an event stands: the members so far, in document order, with their kinds. From here one
 * transition leads on for each member that came next in some event.
 */
class Step<EventPlan> {
  /** The first transition that was learned; most steps have no other. */
  key: string | undefined
  kind: Kind = KIND.end
  next: Step<EventPlan> | undefined
  /** The next few, tried in turn, and then the rest. */
  others: Transition<EventPlan>[] | undefined
  more: Map<string, Step<EventPlan>> | undefined
  /** What is to be done with an event that ends here. */
  plan: EventPlan | undefined
}

/**
 * Recognises the shape of an event in one walk. Events of one shape come again and again, so each walk follows the steps
 * of an earlier one, member by member, and ends at the plan that was made for that shape: no path is put together, nothing
 * is sorted and nothing is hashed. What is walked for the first time is flattened by others and learned here.
 *
 * @see decision 0020
 */
export class Shapes<EventPlan> {
  /** Leaves of the last walk, in document order; valid up to `leafCount`. */
  readonly leaves: Scalar[] = []
  leafCount = 0
  /** Elements of arrays that the last walk left out. */
  cutItems = 0
  /** Of steps and plans, about. */
  sizeBytes = STEP_BYTES
  #root = new Step<EventPlan>()
  #isLearning = false
  readonly #arrayItems: number
  readonly #capturesUnknowns: boolean

  constructor(arrayItems: number, capturesUnknowns: boolean) {
    this.#arrayItems = arrayItems
    this.#capturesUnknowns = capturesUnknowns
  }

  /** @returns the plan for events of this shape; undefined if there is none yet. */
  recognise(event: JsonObject): EventPlan | undefined {
    this.#isLearning = false
    this.#start()
    return this.#walkObject(event, this.#root)?.plan
  }

  /**
   * Remembers the plan of an event that was not recognised; of too many shapes all are forgotten first.
   *
   * @param planBytes of the plan, about.
   */
  learn(event: JsonObject, plan: EventPlan, planBytes: number): void {
    if (this.sizeBytes >= MAX_BYTES) this.forget()
    this.sizeBytes += planBytes
    this.#isLearning = true
    this.#start()
    const end = this.#walkObject(event, this.#root)
    if (end !== undefined) end.plan = plan
  }

  forget(): void {
    this.#root = new Step()
    this.sizeBytes = STEP_BYTES
  }

  #start(): void {
    this.leafCount = 0
    this.cutItems = 0
  }

  #walkObject(object: JsonObject, from: Step<EventPlan>): Step<EventPlan> | undefined {
    let step: Step<EventPlan> | undefined = from
    for (const key in object) {
      step = this.#walkMember(key, object[key]!, step)
      if (step === undefined) return undefined
    }
    return step
  }

  #walkArray(array: readonly JsonValue[], from: Step<EventPlan>): Step<EventPlan> | undefined {
    let step: Step<EventPlan> | undefined = from
    const length = Math.min(array.length, this.#arrayItems)
    this.cutItems += array.length - length
    for (let i = 0; i < length; i++) {
      step = this.#walkMember(INDEXES[i] ?? String(i), array[i]!, step)
      if (step === undefined) return undefined
    }
    return step
  }

  #walkMember(key: string, value: JsonValue, from: Step<EventPlan>): Step<EventPlan> | undefined {
    if (typeof value === 'string') {
      this.leaves[this.leafCount++] = value
      return this.#next(from, key, KIND.string)
    }
    if (typeof value === 'number') {
      this.leaves[this.leafCount++] = value
      return this.#next(from, key, KIND.number)
    }
    if (typeof value === 'boolean') {
      this.leaves[this.leafCount++] = value
      return this.#next(from, key, KIND.boolean)
    }
    if (value === null) {
      if (!this.#capturesUnknowns) return from
      this.leaves[this.leafCount++] = ''
      return this.#next(from, key, KIND.null)
    }
    const isArray = Array.isArray(value)
    const begun = this.#next(from, key, isArray ? KIND.array : KIND.object)
    if (begun === undefined) return undefined
    const ended = isArray ? this.#walkArray(value, begun) : this.#walkObject(value as JsonObject, begun)
    return ended && this.#next(ended, '', KIND.end)
  }

  #next(from: Step<EventPlan>, key: string, kind: Kind): Step<EventPlan> | undefined {
    if (from.key === key && from.kind === kind) return from.next
    const { others } = from
    if (others !== undefined) {
      for (let i = 0; i < others.length; i++) {
        const other = others[i]!
        if (other.key === key && other.kind === kind) return other.step
      }
    }
    return this.#nextOfMany(from, key, kind)
  }

  #nextOfMany(from: Step<EventPlan>, key: string, kind: Kind): Step<EventPlan> | undefined {
    if (key.length > MAX_PATH_LENGTH && key !== TOO_LONG) return this.#next(from, TOO_LONG, kind)
    const known = from.more?.get(`${kind}${key}`)
    if (known !== undefined || !this.#isLearning) return known
    const step = new Step<EventPlan>()
    // One event alone could bring more steps than that: it is walked to its end, and not remembered.
    if (this.sizeBytes >= 2 * MAX_BYTES) return step
    this.sizeBytes += STEP_BYTES + 2 * key.length
    if (from.next === undefined) {
      from.key = key
      from.kind = kind
      from.next = step
    } else if ((from.others?.length ?? 0) < TRIED) {
      from.others ??= []
      from.others.push({ key, kind, step })
    } else {
      from.more ??= new Map()
      from.more.set(`${kind}${key}`, step)
    }
    return step
  }
}

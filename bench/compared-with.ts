import type { Bench } from './bench.ts'
import { ANY_WRITE_KEY, type LimitName, startLimit } from './limit.ts'
import { startProduct } from './product.ts'
import type { Program } from './programs.ts'

/** What the product is compared with: a limit program or, with `--against`, the product of another checkout. */
export interface Other extends AsyncDisposable {
  readonly program: Program
  readonly writeKey: string
  readonly isLimit: boolean
}

/** @param setUp makes a source in a product, and gives its write key. @param options of the limit program. */
export async function startOther(
  bench: Bench,
  limit: LimitName,
  setUp: (product: Program) => Promise<string>,
  ...options: readonly string[]
): Promise<Other> {
  const isLimit = bench.against === undefined
  const program = isLimit ? await startLimit(limit, ...options) : await startProduct({ checkout: bench.against })
  try {
    const writeKey = isLimit ? ANY_WRITE_KEY : await setUp(program)
    return { program, writeKey, isLimit, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() }
  } catch (error) {
    await program[Symbol.asyncDispose]()
    throw error
  }
}

import { alternate, compared } from '../comparison.ts'
import { deliver } from '../delivery-run.ts'
import { addDestination, addSource, addSourceOf, EDITS_EVERY_EVENT, startProduct } from '../product.ts'
import type { Row } from '../row.ts'
import { perSecond } from '../table.ts'

/* P4: a source whose events user code edits against one without, in turns, in one product. */

const ROUNDS = 5
export const userCodeRows: readonly Row[] = [
  {
    name: 'P4',
    figure: 'P3 with a user transformation, against without',
    goal: '≥ 0.85',
    measure: async (bench) => {
      await using product = await startProduct()
      const { port } = product
      const plainKey = await addSource(product, bench.sinkUrl())
      const editedKey = await addSourceOf(product, [await addDestination(product, bench.sinkUrl(), EDITS_EVERY_EVENT)])
      const run = async (writeKey: string) => (await deliver(bench, product, { port, writeKey })).eventsPerSecond
      const contenders = [() => run(plainKey), () => run(editedKey)] as const
      await alternate(1, ...contenders)
      return compared(await alternate(ROUNDS, ...contenders), perSecond)
    },
  },
]

import { leaseSchema, migrate, type PostgresPool } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { describeDeliveryStore } from '../conformance.ts'
import { PostgresDeliveryStore } from './postgres-delivery-store.ts'
import { deliverySchema } from './schema.ts'

describeDeliveryStore('Postgres', async () => {
  const schema = await TestSchema.open('delivery_store')
  const pools: PostgresPool[] = []
  return {
    async open(clock, logger) {
      const pool = schema.pool()
      pools.push(pool)
      await migrate(pool, [leaseSchema, deliverySchema])
      return PostgresDeliveryStore.open({ pool, process: 'p1', clock, logger })
    },
    async [Symbol.asyncDispose]() {
      for (const pool of pools) await pool.end()
      await schema[Symbol.asyncDispose]()
    },
  }
})

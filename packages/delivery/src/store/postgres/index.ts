export { FencedError, type ShardFence } from '../shard-fence.ts'
export { PostgresDeliveryStore, type PostgresDeliveryStoreOptions } from './postgres-delivery-store.ts'
export { deliverySchema } from './schema.ts'

export { PostgresDeliveryStore, type PostgresDeliveryStoreOptions } from './postgres-delivery-store.ts'
export { deliverySchema } from './schema.ts'

export type { Configuration } from './configuration.ts'
export { DeliveryMetrics } from './delivery-metrics.ts'
export { type Delivery, Pipeline, type PipelineOptions } from './pipeline.ts'
export { deliveryRoutes } from './routes.ts'

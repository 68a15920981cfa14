export type { Configuration } from './configuration.ts'
export { DeliveryMetrics } from './delivery-metrics.ts'
export { liveRoute } from './events/live-route.ts'
export { filterReason } from './filters.ts'
export { type Delivery, Pipeline, type PipelineOptions } from './pipeline.ts'
export { deliveryRoutes } from './routes.ts'
export { type Answered, type Sender, sendOnce } from './send-once.ts'
export { type StagedDestination, type StageSurroundings, Stages, type Transformed } from './stages.ts'
export type {
  MetadataSource,
  UserCode,
  UserResult,
  UserRunResult,
  UserStep,
  UserTransformation,
} from './user-transform.ts'

export {
  type ApiAnswer,
  DevEnv,
  type DevEnvOptions,
  type Journey,
  type SourceMade,
  type Webhook,
  type WebhookOptions,
} from './dev-env.ts'
export { plant, SEEDS, type Seed, seedAnswer } from './seed.ts'
export { cinemaEvents, largestModelEvents, largestModelKeys, MAX_MODEL } from './seed-documents.ts'
export { type Answer, type Received, Sink, type SinkAnswer } from './sink.ts'

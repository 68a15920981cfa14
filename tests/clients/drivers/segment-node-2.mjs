import { Analytics } from 'analytics-node-2'
import { play } from './scenarios.mjs'

const { KEY: writeKey, URL: host } = process.env
const analytics = new Analytics({ writeKey, host })
await play(analytics, () => analytics.closeAndFlush())

import Analytics from 'analytics-node-6'
import { play } from './scenarios.mjs'

const { KEY, URL: host } = process.env
const analytics = new Analytics(KEY, { host })
await play(analytics, () => analytics.flush())

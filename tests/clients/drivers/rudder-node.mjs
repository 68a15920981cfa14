import RudderAnalytics from '@rudderstack/rudder-sdk-node'
import { play } from './scenarios.mjs'

const { KEY, URL: dataPlaneUrl } = process.env
const analytics = new RudderAnalytics(KEY, { dataPlaneUrl, gzip: true })
await play(analytics, () => analytics.flush())

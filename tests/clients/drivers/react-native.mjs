import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '@segment/analytics-react-native'

const { KEY: writeKey, URL: url, SCENARIO, COUNT } = process.env
const address = `${url}/v1`
const analytics = createClient({
  writeKey,
  proxy: address,
  cdnProxy: address,
  useSegmentEndpoints: true,
  allowInsecureProxy: true,
  debug: false,
})
if (SCENARIO === 'kinds') {
  await analytics.identify('u-88', { plan: 'gold', seats: 14 })
  await analytics.track('Seat Reserved', { hall: 'B', price: 18.5 })
  await analytics.screen('Programme', { day: 'Friday' })
  await analytics.group('g-7', { name: 'Friends of film' })
  await analytics.alias('u-99')
} else if (SCENARIO === 'anonymous') {
  await analytics.track('Opened')
} else {
  for (let n = 0; n < Number(COUNT); n++) await analytics.track('Counted', { n })
}
// It sends nothing before it has its settings, and waits after a refusal.
do {
  await delay(100)
  await analytics.flush()
} while ((await analytics.pendingEvents()) > 0)
process.exit()

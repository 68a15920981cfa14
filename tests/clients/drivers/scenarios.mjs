/** What every program here does, by the environment variable SCENARIO: `kinds`, `anonymous`, or `many` of COUNT events. */
export async function play(analytics, end) {
  const { SCENARIO, COUNT } = process.env
  const user = { userId: 'u-88' }
  if (SCENARIO === 'kinds') {
    analytics.identify({ ...user, traits: { plan: 'gold', seats: 14 } })
    analytics.track({ ...user, event: 'Seat Reserved', properties: { hall: 'B', price: 18.5 } })
    analytics.page({ ...user, name: 'Seats', properties: { path: '/seats' } })
    analytics.screen({ ...user, name: 'Programme', properties: { day: 'Friday' } })
    analytics.group({ ...user, groupId: 'g-7', traits: { name: 'Friends of film' } })
    analytics.alias({ ...user, previousId: 'u-77' })
  } else if (SCENARIO === 'anonymous') {
    analytics.track({ anonymousId: 'a-5', event: 'Opened' })
  } else {
    for (let n = 0; n < Number(COUNT); n++) analytics.track({ ...user, event: 'Counted', properties: { n } })
  }
  await end()
}

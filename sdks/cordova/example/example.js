/* A button for each call, and a view of the queue that is always current. */

const CALLS = {
  initialize: () =>
    client().initialize(value('writeKey'), {
      dataPlaneUrl: value('dataPlaneUrl'),
      logLevel: 'DEBUG',
      recordScreenViews: true,
    }),
  identify: () => client().identify('u-42', { plan: 'pro' }, { externalIds: { crmId: 7 } }),
  track: () => client().track('Order Completed', { order_id: 'A-1001', total: 39.9 }),
  screen: () => client().screen('Cart', { items: 2 }),
  group: () => client().group('acme', { employees: 120 }),
  alias: () => client().alias('mira-42'),
  'route change': () => history.pushState({}, '', `#/page-${Date.now() % 100}`),
  reset: () => client().reset(),
  'reset(true)': () => client().reset(true),
  'optOut(true)': () => client().optOut(true),
  'optOut(false)': () => client().optOut(false),
  putAnonymousId: () => client().putAnonymousId('my-own-id'),
  putAdvertisingId: () => client().putAdvertisingId('00000000-1111-2222-3333-444444444444'),
  putDeviceToken: () => client().putDeviceToken('token-1'),
  flush: () => client().flush(),
}
const REFRESH_MS = 500
const MOST_ANSWERS = 50

const answers = []

for (const [name, call] of Object.entries(CALLS)) {
  const button = document.createElement('button')
  button.textContent = name
  button.onclick = async () => {
    try {
      show(name, await call())
    } catch (error) {
      show(name, { rejected: error.message })
    }
  }
  document.getElementById('buttons').append(button)
}

document.addEventListener('deviceready', () => {
  setInterval(async () => {
    document.getElementById('status').textContent = JSON.stringify(await client().getStatus(), null, 2)
  }, REFRESH_MS)
})

function client() {
  return window.ServiceClient
}

function value(id) {
  return document.getElementById(id).value.trim()
}

function show(name, answer) {
  answers.unshift(`${name}: ${JSON.stringify(answer)}`)
  answers.splice(MOST_ANSWERS)
  document.getElementById('answers').textContent = answers.join('\n')
}

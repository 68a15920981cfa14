/* A button for each call, a view of the queue and of what was sent, and the checklist for phones. */

const CALLS = {
  initialize: () => client().initialize(value('writeKey'), configuration()),
  track: () => recorded('Order Completed', client().track('Order Completed', { order_id: 'A-1001', total: 39.9 })),
  '50 × track': () =>
    Promise.all(
      Array.from({ length: 50 }, (_, at) => recorded(`Burst ${at + 1}`, client().track(`Burst ${at + 1}`))),
    ).then((results) => `${results.length} × ${results.at(-1).status}`),
  screen: () => recorded('screen Cart', client().screen('Cart', { items: 2 })),
  'route change': async () => {
    history.pushState({}, '', `#/page-${Date.now() % 100}`)
    return location.hash
  },
  group: () => recorded('group acme', client().group('acme', { employees: 120 })),
  identify: () => recorded('identify u-42', client().identify('u-42', { plan: 'pro' }, { externalIds: { crmId: 7 } })),
  alias: () => recorded('alias mira-42', client().alias('mira-42')),
  reset: () => client().reset(),
  'reset(true)': () => client().reset(true),
  putAnonymousId: () => client().putAnonymousId('my-own-id'),
  putAdvertisingId: () => client().putAdvertisingId('6f9619ff-8b86-4d11-b42d-00c04fc964ff'),
  putDeviceToken: () => client().putDeviceToken('token-1'),
  'optOut(true)': () => client().optOut(true),
  'optOut(false)': () => client().optOut(false),
  flush: () => client().flush(),
}
const FIRST = ['initialize', 'track', 'flush']
const REFRESH_MS = 500
const MAX_ANSWERS = 50
const MAX_EVENTS = 100
const KEPT = 'service-client-example'

const answers = []
/** Newest first: {name, messageId, state}. */
const events = []
/** messageIds of the batch that is under way. */
let underWay = []
const kept = JSON.parse(localStorage.getItem(KEPT) || '{}')

for (const place of document.querySelectorAll('[data-calls]')) {
  for (const name of place.dataset.calls.split(', ')) place.append(buttonOf(name))
}
for (const [at, item] of [...document.querySelectorAll('#checks li')].entries()) {
  const label = document.createElement('label')
  label.append(keptInput(`check-${at}`, document.createElement('input')), ...item.childNodes)
  item.append(label)
}
for (const input of document.querySelectorAll('input[id]')) keptInput(input.id, input)
listenToTheConsole()
document.addEventListener('deviceready', () => {
  void refresh()
  setInterval(refresh, REFRESH_MS)
})

function client() {
  return window.ServiceClient
}

function configuration() {
  return {
    dataPlaneUrl: value('dataPlaneUrl'),
    // The console tells of each event that is sent: that is how this page knows.
    logLevel: client().LogLevel.VERBOSE,
    recordScreenViews: isTicked('recordScreenViews'),
    requireConsent: isTicked('requireConsent'),
    autoCollectAdvertId: isTicked('autoCollectAdvertId'),
    collectDeviceId: isTicked('collectDeviceId'),
    optOutQueue: isTicked('purge') ? 'purge' : 'keep',
  }
}

function buttonOf(name) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = name
  if (FIRST.includes(name)) button.className = 'first'
  button.onclick = async () => {
    try {
      show(name, await CALLS[name]())
    } catch (error) {
      show(name, { rejected: error.code || error.message })
    }
    await refresh()
  }
  return button
}

/** What is typed and ticked outlives the app, so that a check may kill it. The SDK itself keeps no event in localStorage. */
function keptInput(name, input) {
  const member = input.id && input.type !== 'checkbox' ? 'value' : 'checked'
  if (member === 'checked') input.type = 'checkbox'
  if (kept[name] !== undefined) input[member] = kept[name]
  input.onchange = () => {
    kept[name] = input[member]
    localStorage.setItem(KEPT, JSON.stringify(kept))
  }
  return input
}

async function recorded(name, call) {
  const result = await call
  note({ name, messageId: result.messageId, state: result.status })
  return result
}

function note(event) {
  events.unshift(event)
  events.splice(MAX_EVENTS)
  showEvents()
}

/** Lines of the SDK at VERBOSE: the events of a batch, then what the server said of it. */
function listenToTheConsole() {
  for (const method of ['error', 'log']) {
    // biome-ignore lint/suspicious/noConsole: listened to, not written to
    const original = console[method]
    console[method] = (...given) => {
      original.apply(console, given)
      const line = String(given[0])
      if (line.startsWith('[ServiceClient] ')) hear(line)
    }
  }
}

function hear(line) {
  const found = [...line.matchAll(/"messageId":"([^"]+)"/g)].map((match) => match[1])
  underWay.push(...found)
  const [, outcome] = /batch of .*: (.+) in \d+ ms$/.exec(line) || []
  if (outcome === undefined) return
  for (const messageId of underWay) {
    const event = events.find((each) => each.messageId === messageId)
    const state = /^2\d\d$/.test(outcome) ? 'sent' : `tried: ${outcome}`
    if (event) event.state = state
    else events.unshift({ name: 'by the SDK itself, or earlier', messageId, state })
  }
  underWay = []
  events.splice(MAX_EVENTS)
  showEvents()
}

async function refresh() {
  const status = await client().getStatus()
  const { state, storage, tracking, queued, sending, dropped, lastError } = status
  const line = document.getElementById('state')
  line.className = state
  line.textContent = storage ? `${state} · ${storage} · ${tracking}` : state
  const sent = events.filter((event) => event.state === 'sent').length
  const lost = Object.values(dropped).reduce((sum, count) => sum + count, 0)
  const figures = { queued, sending, 'sent, seen here': sent, 'dropped, since install': lost }
  document.getElementById('figures').replaceChildren(...Object.entries(figures).map(figureOf))
  const trouble = document.getElementById('trouble')
  trouble.hidden = !lastError
  trouble.textContent = lastError ? `Last trouble: ${lastError.code}, ${lastError.detail}` : ''
  document.getElementById('status').textContent = JSON.stringify(status, null, 2)
}

function figureOf([name, figure]) {
  const [box, term, data] = ['div', 'dt', 'dd'].map((tag) => document.createElement(tag))
  term.textContent = name
  data.textContent = figure
  box.append(term, data)
  return box
}

function showEvents() {
  const lines = events.map(({ name, messageId = '', state }) => {
    const [item, what, how] = ['li', 'span', 'span'].map((tag) => document.createElement(tag))
    what.textContent = name
    what.title = messageId
    how.textContent = state
    how.className = state
    item.append(what, how)
    return item
  })
  document.getElementById('events').replaceChildren(...lines)
}

function show(name, answer) {
  answers.unshift(`${name}: ${JSON.stringify(answer)}`)
  answers.splice(MAX_ANSWERS)
  document.getElementById('answers').textContent = answers.join('\n')
}

function value(id) {
  return document.getElementById(id).value.trim()
}

function isTicked(id) {
  return document.getElementById(id).checked
}

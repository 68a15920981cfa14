import { counted, grouped } from '@millrace/wording'

/**
 * Every text that contracts/dashboard.md fixes, word for word, by page. Pages read them here and write none of these
 * themselves; what a page says beyond them (labels, headings) stands in the page. Numbers of things are grouped
 * (`100,000`), and a noun after 1 is singular: docs/decisions/0048.
 *
 * @see contracts/dashboard.md §2, §3, §5–§11 [U3]
 */

export const pageTexts = {
  badLinkFilter: (name: string) => `The link held an unknown filter (${name}). It was left out.`,
  emptyByFilter: 'Nothing matches these filters.',
  clearFilters: 'Clear filters',
  stillLoading: (seconds: number) => `Still loading. The server has not answered for ${seconds} s.`,
  retry: 'Retry',
  asOf: (time: string) => `As of ${time}.`,
  asOfSilent: (time: string) => `as of ${time}`,
  silent: (seconds: number) => `The server has not answered for ${seconds} s.`,
  noConnection: (seconds: number) => `No connection to the server. Next try in ${seconds} s.`,
  serverFailed: (status: number, requestId: string) => `The server could not answer (${status}). Request ${requestId}.`,
  tooManyRequests: (seconds: number) => `Too many requests. Next try in ${seconds} s.`,
  needsRolePage: (role: string, email: string, ownRole: string) =>
    `This page needs the role ${role}. You are signed in as ${email} with the role ${ownRole}.`,
  needsRole: (role: string) => `Needs the role ${role}.`,
  gone: (thing: string, id: string) => `${thing} ${id} does not exist, or was deleted.`,
  changedMeanwhile: (thing: string) => `Somebody changed this ${thing} since you opened it.`,
  seeDifference: 'See the difference',
  loadTheirs: 'Load theirs',
  keepMine: 'Keep mine',
  signedOut: 'You were signed out. Sign in to go on.',
  panelFailed: 'This part of the page failed. The rest works.',
} as const

export const healthTexts = {
  ok: 'Healthy',
  okMeaning: 'All checks are ok, and every destination takes its events.',
  warning: 'Warning',
  trouble: 'Trouble',
  noConnection: 'No connection',
  noConnectionMeaning: 'The server cannot be reached.',
  noAnswer: 'No answer',
  noAnswerMeaning: (time: string) => `The server has not answered since ${time}.`,
  needAttention: (count: number) =>
    count === 1 ? '1 destination needs attention' : `${grouped(count)} destinations need attention`,
} as const

export const signInTexts = {
  email: 'E-mail',
  token: 'Personal access token',
  refused: 'E-mail or token is wrong.',
  firstStart: "The first start printed the owner's token. To replace it, start the server with MILLRACE_OWNER_TOKEN.",
} as const

/** The words of the left side, in its order. */
export const navigationTexts = {
  home: 'Home',
  events: 'Events',
  sources: 'Sources',
  transformations: 'Transformations',
  destinations: 'Destinations',
  testBench: 'Test bench',
  deadLetters: 'Dead letters',
  replays: 'Replays',
  schema: 'Schema',
  settings: 'Settings',
} as const

export const paletteTexts = {
  traceMessage: (text: string) => `Trace messageId "${text}"`,
  eventsOfUser: (text: string) => `Events of user "${text}"`,
} as const

export const homeTexts = {
  noSource: 'No source yet. A source gives an app its write key.',
  onlySamples: 'Three sample events went through. Connect your app next.',
  andMore: (count: number) => `and ${grouped(count)} more`,
  off: 'off',
  unauthorised: 'credentials refused',
  resting: 'resting, not answering',
  behind: (minutes: number) => `behind ${grouped(minutes)} min`,
  dead: (count: number) => `${grouped(count)} dead`,
  refused: (count: number) => `${grouped(count)} refused`,
  unconnected: 'connected to nothing',
  ok: 'ok',
  signIns: (count: number, addresses: number) =>
    `${counted(count, 'sign-in')} refused in 24 h, from ${grouped(addresses)} ${addresses === 1 ? 'address' : 'addresses'}: too many wrong tokens`,
  destinations: (count: number) => counted(count, 'destination'),
  needsYou: 'What needs you',
  nothingNeedsYou: 'Nothing needs you.',
} as const

export const sourceTexts = {
  writeKey: 'Write Key',
  sendSample: 'Send a sample event',
  sampleUnanswered: 'No answer within 10 s. The server may have taken the event: look for it in Events.',
  sampleAccepted: (time: string) => `Sample event accepted at ${time}.`,
  unconnected: (events: number) => `Connected to nothing: ${counted(events, 'event')} stored, none delivered`,
  connect: 'Connect a destination',
  waiting: 'Waiting for the first event …',
  arrived: (type: string, name: string) => `First event arrived: ${[type, name].filter(Boolean).join(' ')}.`,
  needsTls:
    'This library speaks https only. Put a proxy with a certificate in front of Millrace, and set MILLRACE_PUBLIC_URL to its address.',
  noRefusals: 'No request was refused lately.',
  noConnections: 'These events go nowhere. Connect a destination.',
} as const

export const eventTexts = {
  empty: 'No event yet. Send one:',
  newRows: (count: number) => `${grouped(count)} new`,
  skipped: (count: number) => `${grouped(count)} not shown: more than 50 a second. Narrow the filter to see all.`,
  lookedBack: (time: string) => `Looked back to ${time}. Go on.`,
  tailFull: '20 people are watching already. New events are loaded every 5 s.',
  unknown: (id: string) =>
    `No event with messageId ${id} is known. It was not accepted, or its trace is no longer kept.`,
  seeRefused: 'See refused requests',
} as const

export const traceTexts = {
  todaysConfiguration: "With today's configuration",
  notConnected: 'Not connected to this source (today).',
  delivered: (status: number, attempts: number, time: string) =>
    `${status} after ${counted(attempts, 'attempt')}, ${time} after acceptance.`,
  integrations: 'The event itself leaves this destination out (integrations).',
  destinationDisabled: 'The destination was disabled when the event came.',
  deviceMode: 'The app delivers this itself.',
  typeNotSupported: (destinationType: string, eventType: string) => `${destinationType} takes no ${eventType} events.`,
  eventFilter: "Not on the destination's event list.",
  noMapping: 'No mapping takes this event.',
  returnedNothing: (name: string) => `${name} returned nothing.`,
  duplicate: 'Same messageId as an earlier event.',
  pending: 'Queued: its turn comes next.',
  codeFailed: (name: string, text: string) => `${name} failed: ${text}`,
  noRequest: (text: string) => `No request could be made: ${text}`,
  /** @param status null: there was no answer. */
  internal: (reason: string) => `Given up for an error of Millrace itself: ${reason}. Its log says more.`,
  givenUp: (attempts: number, reason: string, status: number | null) =>
    `Given up after ${counted(attempts, 'attempt')}: ${reason}.${status === null ? '' : ` Last answer ${status}.`}`,
  discarded: (reason: string) => `Discarded: ${reason}.`,
  expired: 'Given up: the storage budget was full.',
  useAsTest: 'Use as test',
  showInPayload: 'Show in payload',
  sendNow: 'Send it now',
  openConfig: 'Open config',
  openCodeWithEvent: 'Open code with this event',
  openCodeAtLine: (line: number) => `Open code at line ${line}`,
  openMessage: (messageId: string) => `Open ${messageId}`,
  openDestination: 'Open destination',
  openInTestBench: 'Open in test bench',
  sendAgain: 'Send again',
} as const

export const testBenchTexts = {
  choose: 'Choose a destination and a message.',
  wouldSkip: (reason: string) => `Live traffic would skip this: ${reason}.`,
  sendToHost: (host: string) => `Send to ${host}`,
  sendToDestinations: (count: number) => `Send to ${counted(count, 'destination')}`,
  saveAsFixture: 'Save as fixture',
} as const

export const transformationTexts = {
  empty: 'No transformation yet. Start from a template.',
  noTests: 'No stored test. Save a run as a test.',
  logsOff: 'Live logs are off.',
  governs: (destinations: number) => `Governs the next event of ${counted(destinations, 'destination')}.`,
  publishAlthough: (failed: number) =>
    failed === 1 ? 'Publish although 1 test fails' : `Publish although ${grouped(failed)} tests fail`,
} as const

export const destinationTexts = {
  empty: 'No destination yet. It is where events are sent.',
  nothingSent: 'Nothing was sent here in this time.',
  noTransformation: 'No transformation. Events are sent as they come.',
  secretSaved: 'Saved. Type to replace.',
  originChanges: 'The address changes to another origin. Saved secrets will be removed unless you enter them again.',
  testConnection: 'Test connection',
  nothingTested: 'Nothing was tested.',
  notVerified: 'not yet verified here',
  unauthorisedMeaning: 'Credentials refused: events wait, nothing is lost, a probe goes every 5 minutes.',
  waitingStay: (waiting: number) =>
    waiting === 1
      ? '1 waiting event stays and goes on when enabled.'
      : `${grouped(waiting)} waiting events stay and go on when enabled.`,
} as const

export const deadLetterTexts = {
  failedBefore: (count: number) => `${counted(count, 'failed event')} had this cause. Send again?`,
  empty: 'No dead letter. Every event found its end.',
  sendAgain: (count: number, name: string) =>
    `Send ${counted(count, 'event')} again to ${name} with today's configuration?`,
} as const

export const replayTexts = {
  seeFailed: (count: number, isAgain: boolean) => `See the ${grouped(count)} that failed${isAgain ? ' again' : ''}`,
  empty: 'No replay was started.',
  estimate: (count: number, time: string, rate: number) =>
    `${counted(count, 'event')}, about ${time} at ${grouped(rate)}/s`,
} as const

export const schemaTexts = {
  empty: 'No events yet.',
  cut: (keys: number) => `Counts are complete; ${keys === 1 ? '1 key was' : `${grouped(keys)} keys were`} cut.`,
  behind: (seconds: number) => `The catalog is ${seconds} s behind.`,
  samplesOff: 'Samples are switched off for this source.',
  useAsTest: 'Use as test',
} as const

export const settingsTexts = {
  empty: 'No entry in this time.',
  stored: 'I have stored it',
  secretKeyNotInBackup: 'The secret key is not in the backup. Keep it elsewhere.',
} as const

export const commonTexts = {
  copy: 'Copy',
  api: 'API',
  showAll: 'Show all',
  table: 'Table',
} as const

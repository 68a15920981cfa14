import { counted, grouped } from '@millrace/wording'

/**
 * Every text that contracts/dashboard.md fixes, word for word, by page. Pages use these constants; each page contains
 * its other texts (labels, headings) itself. Counts have group separators (`100,000`), and a noun after 1 is singular:
 * docs/decisions/0048.
 *
 * @see contracts/dashboard.md §2, §3, §5–§11 [U3]
 */

export const pageTexts = {
  badLinkFilter: (name: string) => `The link has an invalid filter (${name}). It is ignored.`,
  emptyByFilter: 'Nothing matches these filters.',
  clearFilters: 'Clear filters',
  stillLoading: (seconds: number) => `Still loading. No answer from the server for ${seconds} s.`,
  retry: 'Retry',
  asOf: (time: string) => `As of ${time}.`,
  asOfSilent: (time: string) => `as of ${time}`,
  silent: (seconds: number) => `No answer from the server for ${seconds} s.`,
  noConnection: (seconds: number) => `No connection to the server. Retrying in ${seconds} s.`,
  serverFailed: (status: number, requestId: string) => `The server could not answer (${status}). Request ${requestId}.`,
  tooManyRequests: (seconds: number) => `Too many requests. Retrying in ${seconds} s.`,
  requestUnanswered: 'No answer from the server. It may have received the request: check before you try again.',
  tryAgainIn: (seconds: number) => `Too many requests. Try again in ${seconds} s.`,
  sessionEnded: 'The session ended before this was done. Try again.',
  changedInTheMeantime: 'Someone changed this first. The page now shows the current state: check it, then try again.',
  needsRolePage: (role: string, email: string, ownRole: string) =>
    `This page needs the role ${role}. You are signed in as ${email} with the role ${ownRole}.`,
  needsRole: (role: string) => `Needs the role ${role}.`,
  gone: (thing: string, id: string) => `${thing} ${id} does not exist, or was deleted.`,
  changedMeanwhile: (thing: string) => `Someone changed this ${thing} since you opened it.`,
  seeDifference: 'See the difference',
  loadTheirs: 'Load theirs',
  keepMine: 'Keep mine',
  signedOut: 'You were signed out. Sign in to continue.',
  panelFailed: 'This part of the page failed. The rest of the page works.',
} as const

export const healthTexts = {
  ok: 'Healthy',
  okMeaning: 'All checks pass, and every destination accepts its events.',
  warning: 'Warning',
  trouble: 'Trouble',
  noConnection: 'No connection',
  noConnectionMeaning: 'The server cannot be reached.',
  noAnswer: 'No answer',
  noAnswerMeaning: (time: string) => `No answer from the server since ${time}.`,
  needAttention: (count: number) =>
    count === 1 ? '1 destination needs attention' : `${grouped(count)} destinations need attention`,
} as const

export const signInTexts = {
  email: 'E-mail',
  token: 'Personal access token',
  refused: 'E-mail or token is wrong.',
  firstStart:
    "The first start printed the owner's token, unless MILLRACE_OWNER_TOKEN set it. To replace it, start the server with a new MILLRACE_OWNER_TOKEN.",
} as const

/** The words of the navigation, in order. */
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
  noSource: 'No sources yet. Create one to get a write key for your app.',
  onlySamples: 'Three sample events were delivered. Connect your app next.',
  andMore: (count: number) => `and ${grouped(count)} more`,
  off: 'off',
  unauthorised: 'credentials refused',
  resting: 'failing',
  behind: (minutes: number) => `behind ${grouped(minutes)} min`,
  dead: (count: number) => `${grouped(count)} dead`,
  refused: (count: number) => `${grouped(count)} refused`,
  unconnected: 'not connected',
  ok: 'ok',
  signIns: (count: number, addresses: number) =>
    `${counted(count, 'sign-in')} refused in 24 h, from ${grouped(addresses)} ${addresses === 1 ? 'address' : 'addresses'}: too many failed attempts`,
  destinations: (count: number) => counted(count, 'destination'),
  needsYou: 'Needs attention',
  nothingNeedsYou: 'Nothing needs attention.',
} as const

export const sourceTexts = {
  writeKey: 'Write Key',
  sendSample: 'Send a sample event',
  sampleUnanswered: 'No answer within 10 s. The server may have accepted the event: check Events.',
  sampleAccepted: (time: string) => `Sample event accepted at ${time}.`,
  unconnected: (events: number) => `Not connected: ${counted(events, 'event')} stored, none delivered`,
  connect: 'Connect a destination',
  waiting: 'Waiting for the first event …',
  arrived: (type: string, name: string) => `First event arrived: ${[type, name].filter(Boolean).join(' ')}.`,
  needsTls:
    'This library supports https only. Put a TLS proxy in front of Millrace, and set MILLRACE_PUBLIC_URL to its address.',
  noRefusals: 'No refused requests.',
  noConnections: 'No destination receives these events. Connect one.',
} as const

export const eventTexts = {
  empty: 'No events yet. Send one:',
  newRows: (count: number) => `${grouped(count)} new`,
  skipped: (count: number) => `${grouped(count)} not shown: more than 50 a second. Narrow the filter to see all.`,
  lookedBack: (time: string) => `Searched back to ${time}. Search further.`,
  tailFull: 'The live view is full (20 viewers). New events are loaded every 5 s.',
  unknown: (id: string) => `No event with messageId ${id} found. It was not accepted, or its trace has expired.`,
  seeRefused: 'See refused requests',
} as const

export const traceTexts = {
  todaysConfiguration: 'With the current configuration',
  notConnected: 'Not connected to this source now.',
  delivered: (status: number, attempts: number, time: string) =>
    `${status} after ${counted(attempts, 'attempt')}, ${time} after acceptance.`,
  integrations: 'The event excludes this destination (integrations).',
  destinationDisabled: 'The destination was disabled when the event was accepted.',
  deviceMode: 'The app sends to this destination directly (device mode).',
  typeNotSupported: (destinationType: string, eventType: string) =>
    `${destinationType} does not accept ${eventType} events.`,
  eventFilter: "Not in the destination's event list.",
  connectionRule: (number: string) => `Rule ${number} of the connection excludes this event.`,
  noConnectionRule: 'No rule of the connection allows this event.',
  consentDenied: 'The user has not consented to the categories of this destination.',
  consentMissing: 'The event has no consent, and its source holds such events back.',
  noMapping: 'No mapping matches this event.',
  returnedNothing: (name: string) => `${name} returned nothing.`,
  duplicate: 'Same messageId as an earlier event.',
  pending: 'Queued: its turn comes next.',
  codeFailed: (name: string, text: string) => `${name} failed: ${text}`,
  noRequest: (text: string) => `The request could not be created: ${text}`,
  /** @param status null: no answer. */
  internal: (reason: string) => `Failed because of an internal error of Millrace: ${reason}. See its log.`,
  givenUp: (attempts: number, reason: string, status: number | null) =>
    `Given up after ${counted(attempts, 'attempt')}: ${reason}.${status === null ? '' : ` Last answer ${status}.`}`,
  discarded: (reason: string) => `Discarded: ${reason}.`,
  expired: 'Expired: the storage budget was full.',
  useAsTest: 'Use as test',
  showInPayload: 'Show in payload',
  sendNow: 'Send now',
  openConfig: 'Open config',
  openCodeWithEvent: 'Open code with this event',
  openCodeAtLine: (line: number) => `Open code at line ${line}`,
  openMessage: (messageId: string) => `Open ${messageId}`,
  openDestination: 'Open destination',
  openRules: 'Open rules',
  openInTestBench: 'Open in test bench',
  sendAgain: 'Send again',
} as const

export const testBenchTexts = {
  choose: 'Choose a destination and a message.',
  correctMessage: 'Correct the message to run it.',
  wouldSkip: (reason: string) => `Live traffic would skip this: ${reason}.`,
  wouldSkipFrom: (source: string, reason: string) => `Live traffic of ${source} would skip this: ${reason}.`,
  wouldBatch: (maxEvents: number) => `In live traffic one request carries up to ${counted(maxEvents, 'event')}.`,
  sendToHost: (host: string) => `Send to ${host}`,
  sendToDestinations: (count: number) => `Send to ${counted(count, 'destination')}`,
  saveAsFixture: 'Save as fixture',
} as const

export const transformationTexts = {
  empty: 'No transformations yet. Start from a template.',
  noTests: 'No stored tests. Save a run as a test.',
  logsOff: 'Live logs are off.',
  governs: (destinations: number) => `Takes effect with the next event of ${counted(destinations, 'destination')}.`,
  publishAlthough: (failed: number) =>
    failed === 1 ? 'Publish with 1 failing test' : `Publish with ${grouped(failed)} failing tests`,
} as const

export const destinationTexts = {
  empty: 'No destinations yet. Create one to deliver events.',
  nothingSent: 'Nothing was sent in this time range.',
  noTransformation: 'No transformations. Events are sent unchanged.',
  secretSaved: 'Saved. Type to replace.',
  originChanges: 'The secrets could reach another host. Enter them again, or they will be removed.',
  testConnection: 'Test connection',
  notVerified: 'not yet verified here',
  notVerifiedMeaning:
    'No service has accepted an event of this type from here. Test it with an event before you enable it.',
  noChoices: (cause: string) => `The service listed no choices: ${cause}`,
  mappingNumber: (number: number) => `Mapping ${number}.`,
  choicesNotLoaded: 'Load the choices first.',
  choicesLoaded: (count: number) =>
    count === 0 ? 'The service has no choices.' : `${counted(count, 'choice')} loaded. Open the list to choose.`,
  noSuchChoice: 'No such choice.',
  unauthorisedMeaning: 'Credentials refused: events wait, nothing is lost, one probe every 5 minutes.',
  waitingStay: (waiting: number) =>
    waiting === 1
      ? '1 waiting event is kept and sent when you enable it.'
      : `${grouped(waiting)} waiting events are kept and sent when you enable it.`,
} as const

export const authorizationTexts = {
  heading: 'Refresh token from the service',
  register: 'Register this return address with your app at the service. It sends you back there.',
  start: 'Get a refresh token',
  goTo: (host: string) => `Continue at ${host}`,
  waiting: 'Waiting for you to allow it there, for 10 minutes.',
  filled: 'The refresh token is filled in. Save to keep it.',
  refused: (cause: string) => `The service gave no refresh token: ${cause}`,
  passing: 'Passing the answer of the service to the tab where you began.',
  passed: 'Done. Close this tab and go back to the tab where you began.',
  notAwaited: 'No tab of this browser waits for this answer. Begin again in the configuration of the destination.',
  nothingBrought: 'Services send people back to this page. Begin in the configuration of a destination.',
} as const

export const connectionTexts = {
  intro: 'The first rule that matches an event decides. Rules run before transformations.',
  allEvents: 'All events',
  rules: (count: number) => counted(count, 'rule'),
  matched: (count: number) => `${counted(count, 'event')} yesterday`,
  otherwise: 'All other events',
  pattern: '* matches any text.',
  sent: (sent: number, events: number) => `${grouped(sent)} of ${counted(events, 'event')} would be sent.`,
  noEvents: 'No events yesterday.',
  counting: 'Counting events …',
  incomplete: 'Complete the rules to count events.',
  partly: (time: string) => `Only events since ${time} were counted: the rest takes too long.`,
  ruleFault: (text: string) => `This ${text}.`,
  saved: 'Saved. The rules apply to the next event.',
} as const

export const consentTexts = {
  categories: 'Only events whose consent grants these categories are sent. Empty: consent does not matter.',
  withoutConsent: 'Applies at destinations with consent categories.',
} as const

export const deadLetterTexts = {
  failedBefore: (count: number) => `${counted(count, 'event')} failed for this reason. Send again?`,
  empty: 'No dead letters.',
  sendAgain: (count: number, name: string) =>
    `Send ${counted(count, 'event')} again to ${name} with the current configuration?`,
} as const

export const replayTexts = {
  notCounted: (outcome: string) => `Not counted: ${outcome}.`,
  seeFailed: (count: number, isAgain: boolean) => `See the ${grouped(count)} that failed${isAgain ? ' again' : ''}`,
  empty: 'No replays yet.',
  estimate: (count: number, time: string, rate: number) =>
    `${counted(count, 'event')}, about ${time} at ${grouped(rate)}/s`,
} as const

export const schemaTexts = {
  empty: 'No events yet.',
  cut: (keys: number) => `Counts are complete; ${keys === 1 ? '1 key was' : `${grouped(keys)} keys were`} cut.`,
  behind: (seconds: number) => `The catalog is ${seconds} s behind.`,
  samplesOff: 'Samples are off for this source.',
  useAsTest: 'Use as test',
} as const

export const settingsTexts = {
  empty: 'No entries in this time range.',
  stored: 'I have saved it',
  secretKeyNotInBackup: 'The secret key is not in the backup. Keep it elsewhere.',
} as const

export const commonTexts = {
  copy: 'Copy',
  api: 'API',
  noCommand: 'Some text of this form is not JSON. Correct it to see the command.',
  showAll: 'Show all',
  table: 'Table',
} as const

/*
 * Every text that the Test API says to its callers; scripts compare them. Texts of failed deliveries are those of live
 * traffic and stand with it (packages/delivery/src/outbound/failures.ts).
 */

/** @see contracts/test-api.md §6 */
export const STAGE_TEXTS = {
  noTransformation: 'Transformation VersionID not found',
  dropped: 'event was dropped by the user transformation',
  timedOut: 'Timed out',
  abortedByUserTransformation: 'error encountered in user_transformation stage. Aborting.',
  abortedByDestTransformation: 'error encountered in dest_transformation stage. Aborting.',
} as const

/** @see contracts/test-api.md §4, §5, §7 */
export const RESULT_TEXTS = {
  destinationDisabled: (id: string) => `Destination with id ${id} is disabled`,
  serverDelivered: (type: string) =>
    `Destination type ${type} is delivered by the server and is not supported by the Test API`,
} as const

/** @see contracts/test-api.md §3, §5, §8 */
export const REFUSAL_TEXTS = {
  invalidJson: 'Invalid JSON',
  typeMissing: 'message type missing or invalid',
  typeUnsupported: 'message type is unsupported',
  stageMissing: 'stage is missing or invalid',
  flagNoBoolean: (flag: string) => `stage.${flag} must be a boolean`,
  overrideNoObject: 'destinationConfig must be an object',
  overrideUnsupported: 'destinationConfig is not supported by testSource',
  sourceDisabled: (id: string) => `Source with ${id} is disabled`,
  sourceUnconnected: (id: string) => `Source with ${id} is not connected to any destination`,
  unauthorized: 'Invalid Authorization Header',
  forbidden: 'Forbidden',
  pathNotFound: 'Not Found',
  methodNotAllowed: 'Method Not Allowed',
  destinationNotFound: (id: string) => `Destination with id ${id} not found`,
  sourceNotFound: (id: string) => `Source with id ${id} not found`,
  definitionNotFound: (name: string) => `Destination definition ${name} not found`,
  tooLarge: 'Request size exceeds max limit',
  unsupportedEncoding: 'Unsupported content encoding',
  rateLimited: 'Max Requests Limit reached',
  unavailable: 'Service unavailable',
} as const

/** Of `extras.warnings`. @see contracts/test-api.md §11 */
export const WARNING_TEXTS = {
  withheld: 'Saved secrets were withheld because destinationConfig leads to another origin',
  used: 'Saved secrets were used for another origin',
  unknownKey: (key: string, type: string) => `destinationConfig.${key} is not a variable of ${type} and has no effect`,
  partial: 'requests after the first depend on answers',
  rule: (number: string) => `A request was changed by rule ${number} of the destination catalog`,
  oversized: (maxKb: number) => `The message is larger than ${maxKb} KB: live traffic refuses it`,
} as const

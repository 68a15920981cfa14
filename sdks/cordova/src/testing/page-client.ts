import { ServiceClient } from '../entries/module.ts'

/* The script of a page on which a test plays the app. web-app.ts is its other half. */

Object.assign(globalThis, { ServiceClient })

import { type RouteDescription, refusals, Type } from '@millrace/openapi'

const TAG = 'Dashboard'
const page = { text: 'The page.', schema: Type.String(), mediaType: 'text/html' }

export const DASHBOARD_IN_WORDS: Record<'start' | 'page' | 'asset', RouteDescription> = {
  start: { tag: TAG, summary: 'The dashboard', access: 'none', answers: { 200: page } },
  page: { tag: TAG, summary: 'A page of the dashboard', access: 'none', path: '/ui/{page}', answers: { 200: page } },
  asset: {
    tag: TAG,
    summary: 'A script or style sheet of the dashboard',
    details: 'The name changes with the content: cache it without limit.',
    access: 'none',
    answers: {
      200: { text: 'The file.', schema: Type.String(), mediaType: 'text/javascript' },
      ...refusals({ 404: ['Not Found'] }),
    },
  },
}

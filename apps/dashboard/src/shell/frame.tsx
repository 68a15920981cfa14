import { Outlet, useLocation, useMatches, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useHasSession } from '../api/session/session.ts'
import { SignInOverPage } from '../pages/sign-in/sign-in-over-page.tsx'
import { tabTitle, useCurrentTitle } from './page/page-title.ts'
import { Shell } from './shell.tsx'
import { Tips } from './tips.tsx'

/** The frame of every page: none for an open page, else the shell, with the sign-in before or over the page. */
export function Frame() {
  const page = useMatches({ select: (matches) => matches.at(-1)?.staticData.page })
  const hasSession = useHasSession()
  const hadSession = useRef(hasSession)
  if (hasSession) hadSession.current = true
  const isOpen = page !== undefined && 'isOpen' in page && page.isOpen === true
  const title = tabTitle(useCurrentTitle(), page !== undefined && 'title' in page ? page.title : undefined)
  useEffect(() => {
    document.title = title
  }, [title])

  if (isOpen) return <Outlet />
  if (!hadSession.current) return <ToSignIn />
  return (
    <>
      <Shell>
        <Outlet />
      </Shell>
      {!hasSession && <SignInOverPage />}
      <Tips />
    </>
  )
}

function ToSignIn() {
  const navigate = useNavigate()
  // The location changes before this unmounts: the page that the user first wanted counts.
  const wanted = useRef(useLocation().publicHref)
  useEffect(() => {
    void navigate({ to: '/sign-in', search: { next: wanted.current } as never, replace: true })
  }, [navigate])
  return null
}

import { useLocation, useNavigate, useRouter } from '@tanstack/react-router'

/** Navigates after a write was answered, unless the user has gone to another page meanwhile: what is written there would be lost. */
export function useNavigateFromHere() {
  const navigate = useNavigate()
  const router = useRouter()
  const { pathname } = useLocation()
  return ((options) =>
    router.latestLocation.pathname === pathname ? navigate(options) : Promise.resolve()) as typeof navigate
}

import { useLocation, useRouter } from '@tanstack/react-router'
import { OpenPage } from '../../components/open-page.tsx'
import { nextAfterSignIn } from './next-after-sign-in.ts'
import styles from './sign-in.module.css'
import { SignInForm } from './sign-in-form.tsx'

export function SignInPage() {
  const { next } = useLocation({ select: ({ search }) => search }) as { next?: string }
  const { history } = useRouter()
  return (
    <OpenPage title="Sign in to Millrace">
      <div className={styles.alone}>
        <SignInForm onSignedIn={() => history.replace(nextAfterSignIn(next))} />
      </div>
    </OpenPage>
  )
}

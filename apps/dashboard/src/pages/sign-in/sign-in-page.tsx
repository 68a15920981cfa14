import { useLocation, useRouter } from '@tanstack/react-router'
import { Mark } from '../../shell/mark.tsx'
import { nextAfterSignIn } from './next-after-sign-in.ts'
import styles from './sign-in.module.css'
import { SignInForm } from './sign-in-form.tsx'

export function SignInPage() {
  const { next } = useLocation({ select: ({ search }) => search }) as { next?: string }
  const { history } = useRouter()
  return (
    <main className={styles.page}>
      <div className={styles.box}>
        <div className={styles.brand}>
          <Mark size={32} />
          <h1>Sign in to Millrace</h1>
        </div>
        <SignInForm onSignedIn={() => history.replace(nextAfterSignIn(next))} />
      </div>
    </main>
  )
}

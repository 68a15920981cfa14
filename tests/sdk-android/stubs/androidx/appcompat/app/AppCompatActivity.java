package androidx.appcompat.app;

/** The class that CordovaInterface.getActivity() names; the real one is not on Maven Central. */
public class AppCompatActivity extends android.app.Activity {}

package org.millrace.cordova;

import android.app.job.JobInfo;
import android.app.job.JobParameters;
import android.app.job.JobScheduler;
import android.app.job.JobService;
import android.content.ComponentName;
import android.content.Context;

/**
 * Sends what is left once the app has gone to the background, also in a process without a page. It runs in the app's process
 * and shares its engine, so that its drain and those of the app come one after the other.
 *
 * @see "contracts/cordova-sdk.md §16"
 */
public final class DrainJobService extends JobService {
  static final int ID = 1296847443;
  private static final long FIRST_BACKOFF_MS = 30_000;

  @Override
  public boolean onStartJob(JobParameters parameters) {
    try {
      ServiceClientPlugin.engine(this).drainForJob(again -> jobFinished(parameters, again));
      return true;
    } catch (RuntimeException failure) {
      return false;
    }
  }

  /** Android ends the job, for want of a network above all: the drain notices by itself, and the rest is for another job. */
  @Override
  public boolean onStopJob(JobParameters parameters) {
    return true;
  }

  /** Schedules it, or takes it back. A device that allows neither sends at the next start of the app. */
  static final class Schedule implements DrainJobs {
    private final Context context;

    Schedule(Context context) {
      this.context = context;
    }

    @Override
    public void schedule() {
      try {
        scheduler().schedule(job());
      } catch (RuntimeException refused) {
        // Too many jobs, or a manifest without the service.
      }
    }

    @Override
    public void cancel() {
      try {
        scheduler().cancel(ID);
      } catch (RuntimeException refused) {
        // As above.
      }
    }

    private JobInfo job() {
      return new JobInfo.Builder(ID, new ComponentName(context, DrainJobService.class))
          .setRequiredNetworkType(JobInfo.NETWORK_TYPE_ANY)
          .setBackoffCriteria(FIRST_BACKOFF_MS, JobInfo.BACKOFF_POLICY_EXPONENTIAL)
          .build();
    }

    private JobScheduler scheduler() {
      return (JobScheduler) context.getSystemService(Context.JOB_SCHEDULER_SERVICE);
    }
  }
}

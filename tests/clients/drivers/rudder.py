import os
import rudderstack.analytics as analytics
from scenarios import play

analytics.write_key = os.environ['KEY']
analytics.dataPlaneUrl = os.environ['URL']
analytics.gzip = True
play(analytics)

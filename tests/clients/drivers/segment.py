import os
import segment.analytics as analytics
from scenarios import play

analytics.write_key = os.environ['KEY']
analytics.host = os.environ['URL']
analytics.gzip = True
play(analytics)

import os
import analytics
from scenarios import play

analytics.write_key = os.environ['KEY']
analytics.host = os.environ['URL']
play(analytics)

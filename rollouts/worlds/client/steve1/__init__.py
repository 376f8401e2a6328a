"""STEVE-1: a policy for what has to be seen and done, a scripted hand for what is done on a screen."""

-- A story that fails.
error('this story fails on purpose')

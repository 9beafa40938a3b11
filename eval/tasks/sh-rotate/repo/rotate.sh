#!/bin/sh
# rotate.sh DIRECTORY PREFIX KEEP: deletes all but the newest backups.
cd $1
for file in $(ls -t $2*.tar.gz | tail -n +$3); do
  echo $file
  rm -f $file*
done

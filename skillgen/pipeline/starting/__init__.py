"""What a project has that can be documented, and the files with which it starts. Nothing is run, nothing is fetched.

`places` walks the project, `descriptions`, `python`, `node` and `clients` find sources there, `proposals` chooses among
them, `texts` gives the files.
"""

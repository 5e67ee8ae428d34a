# Run by `cmake --install`: installs the files that an operator edits (EDITED_FILES, paths) into BLOOMGATE_CONFIG_FOLDER, as they
# are meant for that folder. A file that is there and differs is not touched: the shipped one goes beside it as *.new.
# SHIPPED keeps what was shipped, for uninstalling.
foreach(source IN LISTS EDITED_FILES)
  cmake_path(GET source FILENAME name)
  file(READ "${source}" text)
  string(REPLACE "/etc/bloomgate/" "${BLOOMGATE_CONFIG_FOLDER}/" text "${text}")
  file(WRITE "${SHIPPED}/${name}" "${text}")
  set(target "$ENV{DESTDIR}${BLOOMGATE_CONFIG_FOLDER}/${name}")
  set(is_edited FALSE)
  if(EXISTS "${target}")
    execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files "${SHIPPED}/${name}" "${target}" RESULT_VARIABLE is_edited
      OUTPUT_QUIET ERROR_QUIET)
  endif()
  if(is_edited)
    file(INSTALL FILES "${SHIPPED}/${name}" DESTINATION "${BLOOMGATE_CONFIG_FOLDER}" RENAME "${name}.new" TYPE FILE)
    message(STATUS "Kept: ${target}, which was edited; what is shipped now is beside it, as ${name}.new")
  else()
    file(INSTALL FILES "${SHIPPED}/${name}" DESTINATION "${BLOOMGATE_CONFIG_FOLDER}" TYPE FILE)
  endif()
endforeach()

#[[
Checks all executions of a program as a test of CTest.

  list(APPEND CMAKE_MODULE_PATH "<what `fencepost flags --cmake-dir` prints>")
  include(FencepostTest)

  fencepost_watch(<target>... [MODE <mode>])
      Builds the targets with the sanitizer, unless fencepost-cc or fencepost-c++ is the compiler, which does so
      anyway. For libraries of the program, and for programs.

  fencepost_add_check(<target> [NAME <name>] [MODE <mode>] [FRAMEWORK fp|gtest|catch2]
                      [OPTIONS <option of fencepost check>...] [ARGUMENTS <argument of the program>...])
      Builds the program with the sanitizer and adds the test <name>, by default check.<target>, which runs
      `fencepost check` on it. Call it after all target_link_libraries() of the program.
#]]
find_program(FENCEPOST_EXECUTABLE fencepost REQUIRED)
get_filename_component(_fencepost_lib "${CMAKE_CURRENT_LIST_DIR}/../lib" ABSOLUTE)

function(_fencepost_flags result what language mode)
  if(CMAKE_${language}_COMPILER_ID MATCHES "Clang")
    set(family clang)
  else()
    set(family gcc)
  endif()
  set(options flags ${what} --compiler ${family})
  if(mode)
    list(APPEND options --mode ${mode})
  endif()
  execute_process(
    COMMAND ${FENCEPOST_EXECUTABLE} ${options}
    OUTPUT_VARIABLE flags RESULT_VARIABLE failed ERROR_VARIABLE why OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    message(FATAL_ERROR "fencepost ${options}: ${why}")
  endif()
  set(${result} "${flags}" PARENT_SCOPE)
endfunction()

function(fencepost_watch)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "MODE" "")
  foreach(target IN LISTS arg_UNPARSED_ARGUMENTS)
    get_target_property(watched ${target} FENCEPOST_WATCHED)
    if(watched)
      continue()
    endif()
    set_target_properties(${target} PROPERTIES FENCEPOST_WATCHED TRUE)
    set(links_with)
    foreach(language C CXX)
      if(NOT CMAKE_${language}_COMPILER OR CMAKE_${language}_COMPILER MATCHES "fencepost-c")
        continue()
      endif()
      # As one word: CMake would leave out options that are repeated.
      _fencepost_flags(flags --compile ${language} "${arg_MODE}")
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:${language}>:SHELL:${flags}>")
      set(links_with ${language})
    endforeach()
    get_target_property(kind ${target} TYPE)
    if(links_with AND kind STREQUAL "EXECUTABLE")
      _fencepost_flags(flags --link ${links_with} "${arg_MODE}")
      separate_arguments(flags UNIX_COMMAND "${flags}")
      # After the program's own; the last one has a `main` for tests.
      set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES
        ${flags} ${_fencepost_lib}/libfencepost_main.a -lpthread)
    elseif(links_with AND kind MATCHES "SHARED_LIBRARY|MODULE_LIBRARY")
      _fencepost_flags(flags --link-shared ${links_with} "${arg_MODE}")
      target_link_options(${target} PRIVATE "SHELL:${flags}")
    endif()
  endforeach()
endfunction()

function(fencepost_add_check target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAME;MODE;FRAMEWORK" "OPTIONS;ARGUMENTS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "fencepost_add_check: `${arg_UNPARSED_ARGUMENTS}` is not known")
  endif()
  fencepost_watch(${target} MODE "${arg_MODE}")
  if(NOT arg_NAME)
    set(arg_NAME check.${target})
  endif()
  if(arg_FRAMEWORK)
    list(PREPEND arg_OPTIONS --framework ${arg_FRAMEWORK})
  endif()
  add_test(NAME ${arg_NAME}
    COMMAND ${FENCEPOST_EXECUTABLE} check ${arg_OPTIONS} $<TARGET_FILE:${target}> ${arg_ARGUMENTS})
endfunction()
